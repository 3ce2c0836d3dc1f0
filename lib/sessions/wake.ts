/**
 * Waking: from a row and a file to a process. Bringing the file home, trusting it, starting on it, committing `active`.
 */
import { isWinterdockError, storageFailure, tellable, WinterdockError } from '../base/errors.ts';
import type { Claim, InstanceProcess } from '../instance/instance.ts';
import type { State } from '../lifecycle/states.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { Fault, Source } from '../lifecycle/words.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { settleDead } from './death.ts';
import { absolute, type Engine, line, livePath, MEMORY, now, rowOf, serverStops, since, takingBack } from './engine.ts';
import { bringHome, isShared, type Place, placeOf, SOURCE_OF } from './file-locations.ts';
import { begin } from './intent.ts';
import { openProcess } from './opening.ts';
import { forgetArchived } from './pass-through.ts';
import { putBack, recordPutBack, tidying } from './putting-back.ts';
import { settleFirst } from './reconcile.ts';
import { claimRoom, makeRoom } from './room.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { refuseFaulted } from './transition-check.ts';
import { ensureCopied, ensurePacked, ensureTrusted } from './trust.ts';

export interface WakeOptions {
  policy?: string;
  force?: boolean;
  /** Whether an archived sandbox may come back: only resume and revive may. */
  revives: boolean;
  /** Called as soon as there is a process, before it is known to be good: its first call may be sent at once. */
  onProcess?: (process: InstanceProcess) => void;
}

export interface Wake {
  process: InstanceProcess;
  row: InstanceRow;
  /** Null when the process was there already. */
  source: Source | null;
  /** The state that it was woken from; null when the process was there already. */
  from: State | null;
  tookMs: number;
}

/** Bytes that every file may have: an empty one, and enough to move and delete things in. */
const LEAST_ROOM = 1024 * 1024;

/**
 * Makes sure that a sandbox has a process. The caller holds the verbs lock. Throws `gone`, `archived`, `capacity`,
 * `unknown_state`, `corrupt`, `missing_file`, `conflict`; after a failure the file is back where the row says.
 */
export async function wake(engine: Engine, entry: Entry, cause: Cause, options: WakeOptions): Promise<Wake> {
  const started = performance.now();
  let row = await rowOf(engine, entry.id);
  if (entry.process !== null) {
    options.onProcess?.(entry.process);
    return { process: entry.process, row, source: null, from: null, tookMs: since(started) };
  }
  if (engine.stop.aborted) throw serverStops();
  row = await settleFirst(engine, entry, row);
  if (row.state === 'active') {
    await settleDead(engine, entry, row, { trigger: 'reconcile', fault: null, detail: 'its process is gone' });
    row = await rowOf(engine, entry.id);
  }
  const place = placeOf(engine, row);
  let claim: Claim | null;
  try {
    admit(row, place, options);
    claim = claimRoom(engine);
  } catch (error) {
    await engine.registry.ledger.append([line(engine, row, cause, 'wake.refused', { error: tellable(error) })]);
    throw error;
  }
  try {
    await intend(engine, row, place, cause);
    entry.began(row.state === 'archived' ? 'revive' : 'resume', row);
    engine.reached('resume.intent');
    // Nobody is suspended for a wake that its tenant's quota refuses.
    claim ??= await roomFor(engine, row, cause);
    const granted = { ...options, claim };
    try {
      return await entry.exclusive(() => start(engine, entry, row, place, cause, granted, started));
    } catch (error) {
      await takingBack(engine, entry.id, () => backToRest(engine, entry, row, place, cause, error));
      throw error;
    }
  } finally {
    entry.ended();
    claim?.release();
  }
}

/** Writes the intent of a wake. Throws `conflict`, and `quota_exceeded` with a line of the ledger. */
async function intend(engine: Engine, row: InstanceRow, place: Place, cause: Cause): Promise<void> {
  const verb = row.state === 'archived' ? 'revive' : 'resume';
  const target = place === 'memory' ? MEMORY : livePath(row.id);
  try {
    await begin(engine, row, cause, { verb, to: 'active', fromPath: row.vfsPath, toPath: target });
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'quota_exceeded') {
      const refused = { trigger: 'quota', error: tellable(error) } as const;
      await engine.registry.ledger.append([line(engine, row, cause, 'wake.refused', refused)]);
    }
    throw error;
  }
}

/** Room for its process, which others are suspended for. Throws `capacity`: the intent is taken back then. */
async function roomFor(engine: Engine, row: InstanceRow, cause: Cause): Promise<Claim> {
  try {
    return await makeRoom(engine);
  } catch (error) {
    const refused = line(engine, row, cause, 'wake.refused', { error: tellable(error) });
    await takingBack(engine, row.id, async () => void (await engine.registry.instances.abandon(row.id, {}, [refused])));
    throw error;
  }
}

/** Refuses a wake before it begins. Throws `archived`, `unknown_state`, `corrupt`, `missing_file`. */
function admit(row: InstanceRow, place: Place, options: WakeOptions): void {
  if (row.state === 'archived' && !options.revives) {
    throw new WinterdockError('archived', `The sandbox "${row.id}" is archived; a call does not revive it.`, {
      hint: 'Revive it first.',
    });
  }
  if (!options.force) refuseFaulted(row);
  if (place === 'none' && row.state !== 'created') {
    throw new WinterdockError('missing_file', `The sandbox "${row.id}" has no file any more; nothing of it was kept.`, {
      hint: waysOut('missing'),
    });
  }
}

async function start(
  engine: Engine,
  entry: Entry,
  row: InstanceRow,
  place: Place,
  cause: Cause,
  options: WakeOptions & { claim: Claim },
  started: number,
): Promise<Wake> {
  const target = place === 'memory' ? MEMORY : livePath(row.id);
  const file = target === MEMORY ? MEMORY : absolute(engine, target);
  if (place === 'archive') await ensurePacked(engine, row, absolute(engine, row.vfsPath ?? ''), options.force ?? false);
  if (place === 'live' || place === 'cold' || isShared(place)) {
    await ensureTrusted(engine, row, absolute(engine, row.vfsPath ?? target), options.force ?? false);
  }
  if (isShared(place)) await ensureCopied(engine, row, absolute(engine, row.vfsPath ?? ''));
  const { makeDurable } = await bringHome(engine, row, place);
  engine.reached('resume.brought');
  if (engine.stop.aborted) throw serverStops();
  const policy = options.policy ?? row.policy;
  const spec = {
    id: row.id,
    file,
    policy,
    maxBytes: await roomOf(engine, row),
    maxFileBytes: engine.config.maxFileBytes,
    mustExist: place !== 'none' && place !== 'memory',
  };
  const process = await openProcess(engine, spec, options);
  try {
    engine.reached('resume.opened');
    // A rename that power loss undoes loses nothing: the file is then where it was, and boot knows it by its inode. So
    // nobody waits for it, and it goes to disk after the commit, for whose fsync the disk is free. Any other way home
    // has to be on disk first.
    if (place !== 'cold') await makeDurable();
    const source = SOURCE_OF[place];
    const tookMs = since(started);
    const active = await engine.registry.instances.commit({
      id: row.id,
      from: row.state,
      to: 'active',
      generation: row.generation,
      vfsPath: target,
      file: place === 'cold' ? row.file : null,
      fault: null,
      now: now(engine),
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      ledger: [
        line(engine, row, cause, 'transition', { from: row.state, to: 'active', source, tookMs }),
        ...(row.fault === null ? [] : [line(engine, row, cause, 'fault.cleared', { reason: row.fault })]),
      ],
    });
    engine.reached('resume.committed');
    if (place === 'cold') {
      makeDurable().catch((error: unknown) => engine.log.warn({ id: row.id, err: error }, 'a thaw was not synced'));
    }
    entry.process = process;
    entry.noteUse();
    engine.watch(row.id, process);
    if (row.state === 'archived') await tidying(engine, row.id, () => forgetArchived(engine, row.id));
    return { process, row: active, source, from: row.state, tookMs };
  } catch (error) {
    await process.kill('killed');
    throw error;
  }
}

/** How large its file may grow: what its tenant has left, on top of what it has, or as large as any. */
async function roomOf(engine: Engine, row: InstanceRow): Promise<number> {
  const left = await engine.registry.quotas.bytesLeft(row.tenant);
  const { maxSandboxBytes } = engine.config;
  return left === null ? maxSandboxBytes : Math.min(maxSandboxBytes, Math.max(LEAST_ROOM, (row.bytes ?? 0) + left));
}

/** Undoes a wake that failed: the file goes back to where the row says, and the row learns what is wrong with it. */
async function backToRest(
  engine: Engine,
  entry: Entry,
  row: InstanceRow,
  place: Place,
  cause: Cause,
  error: unknown,
): Promise<void> {
  if (entry.process !== null) return;
  const fault = faultOf(error);
  engine.log.warn({ id: row.id, err: error }, 'a wake failed');
  const ledger = [
    line(engine, row, cause, 'wake.failed', { error: tellable(error) }),
    // One that has the fault already does not get it again with every attempt.
    ...(fault === null || fault === row.fault
      ? []
      : [line(engine, row, cause, 'fault.raised', { reason: fault, error: tellable(error) })]),
  ];
  const raised = fault === null ? {} : { fault: { fault, reason: tellable(error) } };
  await entry.exclusive(async () => {
    if (fault === 'corrupt' || fault === 'missing') {
      await putBack(engine, row);
      // What was recorded stays: it is what a repaired file is compared with.
      return engine.registry.instances.abandon(row.id, raised, ledger);
    }
    const left = await takeUp(engine, row, place);
    await putBack(engine, row);
    const file = place === 'live' || place === 'cold' ? recordPutBack(engine, row, left) : null;
    const recorded = file === null ? {} : { file: left.unsettled ? { ...file, unsettled: true as const } : file };
    await engine.registry.instances.abandon(row.id, { ...raised, ...recorded }, ledger);
  });
}

/**
 * Takes up what a process left in the log of a file that it had open. Returns the mark in the file, and whether that is
 * still to be done before anything opens it: only where it rests as it lies.
 */
async function takeUp(
  engine: Engine,
  row: InstanceRow,
  place: Place,
): Promise<{ identity: string | null; unsettled: boolean }> {
  const file = absolute(engine, livePath(row.id));
  const nothing = { identity: null, unsettled: false };
  if ((place !== 'live' && place !== 'cold') || stampOf(file) === null) return nothing;
  try {
    return { identity: await engine.readers.settle(file), unsettled: false };
  } catch (error) {
    // It rests with its log beside it, and is recovered before anything opens it; one that has to move waits for that.
    if (place !== 'live') throw error;
    return { ...nothing, unsettled: true };
  }
}

function faultOf(error: unknown): Fault | null {
  if (!isWinterdockError(error)) return storageFailure(error) === null ? 'error' : null;
  if (error.code === 'corrupt') return 'corrupt';
  return error.code === 'missing_file' ? 'missing' : null;
}
