/**
 * Waking: from a row and a file to a process. Brings the file to the live drawer, verifies it, starts a process on it,
 * and commits `active`.
 */
import { isWinterdockError, publicMessage, storageFailure, WinterdockError } from '../../base/errors.ts';
import { notePart } from '../../base/timing.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import type { Fault, Source } from '../../lifecycle/words.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { stampOf } from '../../storage/files.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import {
  type Admitted,
  absolutePath,
  type Engine,
  elapsedMs,
  livePath,
  MEMORY,
  now,
  refuseLeaving,
  requireOwnInstance,
  runRollback,
  serverStopping,
} from '../engine.ts';
import {
  type FileLocation,
  fetchToLive,
  fileOf,
  isSharedCopy,
  locationOf,
  SOURCE_OF,
} from '../files/file-locations.ts';
import { verifyArchived, verifyForOpening, verifySharedCopy } from '../files/file-verification.ts';
import { removeArchivedFile } from '../files/pass-through.ts';
import { startProcess } from '../process-start.ts';
import { beginOperation } from '../recovery/intent.ts';
import { settleDeadProcess } from '../recovery/process-death.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import { recordReturnedFile, returnFile, runCleanup } from '../recovery/rollback.ts';
import { settleFile } from '../recovery/settle-file.ts';
import { requireReachable } from '../recovery/takeover.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { landShipped, tellOpening, tellReplica, tellRested } from '../shipping.ts';
import { bringNear } from '../store/bring.ts';
import { refuseFaulted } from './transition-check.ts';

export interface WakeOptions {
  policy?: string;
  force?: boolean;
  /** Whether an archived sandbox may wake: only by resume and revive. */
  revives: boolean;
  /** Whether idle sandboxes are suspended for it where there is no room. Default: true. */
  makesRoom?: boolean;
  /** The longest that the caller waits for its turn, in milliseconds. Default: the server's limit. */
  maxWaitMs?: number;
  /** Ends that wait. */
  signal?: AbortSignal;
  /** Called as soon as there is a process, before it has the file open: its first call may be sent at once. */
  onProcess?: (process: InstanceProcess) => void;
}

export interface WakeOutcome {
  process: InstanceProcess;
  row: InstanceRow;
  /** Null when the process was there already. */
  source: Source | null;
  /** Milliseconds that continuing a paused process took; null when none was paused. */
  thawMs: number | null;
  /** The state that it was woken from; null when the process was there already. */
  from: State | null;
  tookMs: number;
}

/** The least size limit that a sandbox wakes with: an empty file, and enough room to move and delete things. */
const MIN_SANDBOX_BYTES = 1024 * 1024;

/**
 * Makes sure that a sandbox has a process. The caller holds the verbs lock. Throws `gone`, `archived`, `capacity`,
 * `unknown_state`, `corrupt`, `missing_file`, `conflict`; then the file is back where the row says.
 */
export async function wake(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  options: WakeOptions,
): Promise<WakeOutcome> {
  const started = performance.now();
  let row = await requireReachable(engine, runtime, audit);
  if (runtime.process !== null) {
    const { process } = runtime;
    const wasWarm = process.thermal === 'warm';
    const thawMs = await process.thaw();
    if (thawMs !== null) {
      options.onProcess?.(process);
      return { process, row, source: null, thawMs: wasWarm ? thawMs : null, from: null, tookMs: elapsedMs(started) };
    }
    // It does not answer and is replaced from the file.
    await process.ended;
    runtime.process = null;
  }
  if (engine.stop.aborted) throw serverStopping();
  refuseLeaving(engine, row);
  row = await settleIfInterrupted(engine, runtime, row);
  if (row.state === 'active') {
    await settleDeadProcess(engine, runtime, row, { trigger: 'reconcile', fault: null, detail: 'its process is gone' });
    row = await requireOwnInstance(engine, runtime.id);
  }
  if (!options.force) row = (await engine.store?.settleFault(runtime, row)) ?? row;
  const location = locationOf(engine, row);
  try {
    engine.pool.requirePolicy(options.policy ?? row.policy);
    admit(row, location, options);
    engine.admission.requirePatience(options);
  } catch (error) {
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, audit, 'wake.refused', { error: publicMessage(error) }),
    ]);
    throw error;
  }
  let admitted: Admitted | null = null;
  /** Whether a process had the live folder. */
  let isGiven = false;
  try {
    await writeIntent(engine, row, location, audit);
    runtime.startOperation(row.state === 'archived' ? 'revive' : 'resume', row);
    engine.failpoint('resume.intent');
    // After the intent, so that a wake beyond the quota of its tenant suspends nobody.
    admitted = await claimAfterIntent(engine, row, audit, options);
    const granted = {
      ...options,
      admitted,
      onProcess: (process: InstanceProcess) => {
        isGiven = true;
        options.onProcess?.(process);
      },
    };
    try {
      return await runtime.exclusive(() => start(engine, runtime, row, location, audit, granted, started));
    } catch (error) {
      await runRollback(engine, runtime.id, () =>
        rollBackWake(engine, runtime, row, { location, isGiven }, audit, error),
      );
      throw error;
    }
  } finally {
    runtime.endOperation();
    admitted?.claim.release();
  }
}

/** Writes the intent of a wake. Throws `conflict`; `quota_exceeded` with a ledger entry. */
async function writeIntent(
  engine: Engine,
  row: InstanceRow,
  location: FileLocation,
  audit: AuditContext,
): Promise<void> {
  const verb = row.state === 'archived' ? 'revive' : 'resume';
  const target = location === 'memory' ? MEMORY : livePath(row.id);
  try {
    await beginOperation(engine, row, audit, { verb, to: 'active', fromPath: row.vfsPath, toPath: target });
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'quota_exceeded') {
      const refused = { trigger: 'quota', error: publicMessage(error) } as const;
      await engine.registry.ledger.append([ledgerEntry(engine, row, audit, 'wake.refused', refused)]);
    }
    throw error;
  }
}

/** Waits for room and a worker. Throws `capacity`, after removing the intent. */
async function claimAfterIntent(
  engine: Engine,
  row: InstanceRow,
  audit: AuditContext,
  { policy = row.policy, makesRoom, maxWaitMs, signal }: WakeOptions,
): Promise<Admitted> {
  try {
    return await engine.admission.claim({
      owner: row.tenant,
      policy,
      ...(makesRoom === undefined ? {} : { makesRoom }),
      ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    const refused = ledgerEntry(engine, row, audit, 'wake.refused', { error: publicMessage(error) });
    await runRollback(
      engine,
      row.id,
      async () => void (await engine.registry.instances.abandon(row.id, {}, [refused])),
    );
    throw error;
  }
}

/** Refuses a wake before it begins. Throws `archived`, `unknown_state`, `corrupt`, `missing_file`. */
function admit(row: InstanceRow, location: FileLocation, options: WakeOptions): void {
  if (row.state === 'archived' && !options.revives) {
    throw archivedForCalls(row.id);
  }
  if (!options.force) refuseFaulted(row);
  if (location === 'none' && row.state !== 'created') {
    throw new WinterdockError('missing_file', `The sandbox "${row.id}" has no file any more; nothing of it was kept.`, {
      hint: waysOut('missing'),
    });
  }
}

/** The refusal of a call to an archived sandbox. */
export function archivedForCalls(id: string): WinterdockError {
  return new WinterdockError('archived', `The sandbox "${id}" is archived; a call does not revive it.`, {
    hint: 'Revive it first.',
  });
}

async function start(
  engine: Engine,
  runtime: SandboxRuntime,
  before: InstanceRow,
  location: FileLocation,
  audit: AuditContext,
  options: WakeOptions & { admitted: Admitted },
  started: number,
): Promise<WakeOutcome> {
  const { claim, waitMs, startMs } = options.admitted;
  const opening = performance.now();
  const { row, isBrought } = await bringNear(engine, before);
  const target = location === 'memory' ? MEMORY : livePath(row.id);
  const file = target === MEMORY ? MEMORY : absolutePath(engine, target);
  if (location === 'archive') await verifyArchived(engine, row, fileOf(engine, row), options.force ?? false);
  if (location === 'live' || location === 'cold' || isSharedCopy(location)) {
    await verifyForOpening(engine, row, fileOf(engine, row), options.force ?? false);
  }
  if (isSharedCopy(location)) await verifySharedCopy(engine, row, fileOf(engine, row));
  const { makeDurable, moved } = await fetchToLive(engine, row, location);
  engine.failpoint('resume.brought');
  if (engine.stop.aborted) throw serverStopping();
  const policy = options.policy ?? row.policy;
  const spec = {
    id: row.id,
    tenant: row.tenant,
    file,
    policy,
    maxBytes: await maxBytesOf(engine, row),
    maxFileBytes: engine.config.maxFileBytes,
    mustExist: location !== 'none' && location !== 'memory',
    ...(location !== 'memory' && tellOpening(engine, row, file, location === 'none') && { shipsLog: true }),
  };
  const onProcess = (process: InstanceProcess) => {
    engine.cpuBudget.account(row, process);
    options.onProcess?.(process);
  };
  const process = await startProcess(engine, spec, { onProcess, claim });
  if (spec.shipsLog) tellReplica(engine, row.id, (replica) => replica.opened(row.id));
  const openMs = elapsedMs(opening);
  try {
    engine.failpoint('resume.opened');
    // Nobody waits for the fsync of a rename: it goes to disk after the commit, when the disk is free. If a power cut
    // undoes the rename, the file is where it was, and the next start recognises it by its inode. Any other move has to
    // be durable before the commit.
    if (!moved) await makeDurable();
    const source = isBrought ? 'cloud' : SOURCE_OF[location];
    const tookMs = elapsedMs(started);
    const committing = performance.now();
    const active = await engine.registry.instances.commit({
      id: row.id,
      from: row.state,
      to: 'active',
      generation: row.generation,
      vfsPath: target,
      file: location === 'cold' ? row.file : null,
      fault: null,
      now: now(engine),
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      ledger: [
        ledgerEntry(engine, row, audit, 'transition', { from: row.state, to: 'active', source, tookMs }),
        ...(row.fault === null ? [] : [ledgerEntry(engine, row, audit, 'fault.cleared', { reason: row.fault })]),
      ],
    });
    notePart('wait', waitMs);
    notePart('start', startMs);
    notePart('open', openMs);
    notePart('commit', elapsedMs(committing));
    engine.failpoint('resume.committed');
    if (moved) {
      makeDurable().catch((error: unknown) => engine.log.warn({ id: row.id, err: error }, 'a thaw was not synced'));
    }
    runtime.process = process;
    runtime.bytesAtWake = row.bytes ?? 0;
    runtime.policyAtWake = policy;
    runtime.noteUse(now(engine));
    engine.watchProcess(row.id, process);
    if (row.state === 'archived') await runCleanup(engine, row.id, () => removeArchivedFile(engine, row.id));
    if (location === 'cold' && !moved) await runCleanup(engine, row.id, () => engine.drawers.cold.at(row.id).remove());
    return { process, row: active, source, thawMs: null, from: row.state, tookMs };
  } catch (error) {
    await process.end();
    throw error;
  }
}

/** How large the file may grow: its size and what its tenant has left, at most the limit of any sandbox. */
async function maxBytesOf(engine: Engine, row: InstanceRow): Promise<number> {
  const left = await engine.registry.quotas.bytesLeft(row.tenant);
  const { maxSandboxBytes } = engine.config;
  return left === null
    ? maxSandboxBytes
    : Math.min(maxSandboxBytes, Math.max(MIN_SANDBOX_BYTES, (row.bytes ?? 0) + left));
}

/** Rolls back a wake that failed: the file goes back to where the row says, and the row gets the fault. */
async function rollBackWake(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  { location, isGiven }: { location: FileLocation; isGiven: boolean },
  audit: AuditContext,
  error: unknown,
): Promise<void> {
  if (runtime.process !== null) return;
  const fault = faultOf(error);
  engine.log.warn({ id: row.id, err: error }, 'a wake failed');
  const ledger = [
    ledgerEntry(engine, row, audit, 'wake.failed', { error: publicMessage(error) }),
    // A sandbox that has the fault already does not get it again with every attempt.
    ...(fault === null || fault === row.fault
      ? []
      : [ledgerEntry(engine, row, audit, 'fault.raised', { reason: fault, error: publicMessage(error) })]),
  ];
  const raised = fault === null ? {} : { fault: { fault, reason: publicMessage(error) } };
  await runtime.exclusive(async () => {
    if (isGiven && location !== 'memory') await landShipped(engine, row);
    if (fault === 'corrupt' || fault === 'missing') {
      await returnFile(engine, row);
      // The record stays: a repaired file is compared with it.
      await engine.registry.instances.abandon(row.id, raised, ledger);
      return tellRested(engine, row, null);
    }
    const left = await recoverLog(engine, row, location);
    await returnFile(engine, row);
    const file = location === 'live' || location === 'cold' ? await recordReturnedFile(engine, row, left) : null;
    const recorded = file === null ? {} : { file: left.unsettled ? { ...file, unsettled: true as const } : file };
    await engine.registry.instances.abandon(row.id, { ...raised, ...recorded }, ledger);
    if (location !== 'memory') tellRested(engine, row, file);
  });
}

/**
 * Recovers the log that a process left beside a file that it had open. Returns the mark of the file, and whether the
 * recovery failed and is still to be done before anything opens the file: only for a file that stays in the live
 * drawer.
 */
async function recoverLog(
  engine: Engine,
  row: InstanceRow,
  location: FileLocation,
): Promise<{ identity: string | null; unsettled: boolean }> {
  const nothing = { identity: null, unsettled: false };
  if (location !== 'live' && location !== 'cold') return nothing;
  if (stampOf(absolutePath(engine, livePath(row.id))) === null) return nothing;
  try {
    return { identity: await settleFile(engine, row), unsettled: false };
  } catch (error) {
    // The file rests with its log beside it and is recovered before anything opens it. A file that has to move cannot
    // wait for that.
    if (location !== 'live') throw error;
    return { ...nothing, unsettled: true };
  }
}

function faultOf(error: unknown): Fault | null {
  if (!isWinterdockError(error)) return storageFailure(error) === null ? 'error' : null;
  if (error.code === 'corrupt') return 'corrupt';
  return error.code === 'missing_file' ? 'missing' : null;
}
