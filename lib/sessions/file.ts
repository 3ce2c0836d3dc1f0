/**
 * Filing: suspend, freeze, archive, delete. Each ends the process when there is one, moves a single clean file, and
 * commits.
 */
import { dirname } from 'node:path';
import { syncFolder } from '../base/effects.ts';
import { isWinterdockError, storageFailure, tellable, WinterdockError } from '../base/errors.ts';
import type { State, Verb } from '../lifecycle/states.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { FileRecord, InstanceRow, LedgerEntry } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { settleDead } from './death.ts';
import { absolute, type Engine, line, livePath, MEMORY, now, rowOf, since, takingBack } from './engine.ts';
import { clearLive, leaveLive, placeOf, putAway } from './file-locations.ts';
import { begin } from './intent.ts';
import { removeListing, writeListing } from './listing.ts';
import { comeHome, forgetArchived } from './pass-through.ts';
import { putBack, recordPutBack, tidying } from './putting-back.ts';
import { settleFirst } from './reconcile.ts';
import { rescue } from './rescue.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { corrupt, ensureMovable, isSameBytes, type Known, recordOf } from './trust.ts';
import { refuseFaulted } from './wake.ts';
import { hopsTo, keepsNothing } from './way.ts';

/** Failures of filing in a row after which a sandbox is `unknown` and left alone. */
const FAILURES_TO_UNKNOWN = 3;

type Filed = { vfsPath: string | null; file: FileRecord | null; bytes?: number | null };

export interface Filing {
  verb: Exclude<Verb, 'resume' | 'revive'>;
  to: State;
  /** States that may be passed through where the map has no hop; no process starts. */
  through?: readonly State[];
  /** Nobody wants it filed, its process has to end: an ephemeral one, too, is then where its file is. */
  unasked?: boolean;
  /** Whether a faulted one is refused. Default: unless forced. */
  refusesFaulted?: boolean;
  toPath: (row: InstanceRow) => string | null;
  /**
   * The file work, between the intent and the commit. No one reads the file while it runs. `identity` is what the
   * process that was ended said of the file; null when there was none.
   */
  work: (row: InstanceRow, force: boolean, identity: string | null) => Promise<Filed>;
  /** What may go once the row says where the file is now. A failure of it undoes nothing: it is done later. */
  after?: (before: InstanceRow, after: InstanceRow) => Promise<void>;
}

/**
 * Runs one filing under the verbs lock, which the caller holds. Running calls are given the drain time, then `conflict`
 * unless `force`. Three failures in a row raise `unknown`.
 */
export async function file(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  filing: Filing,
  force: boolean,
): Promise<InstanceRow> {
  const started = performance.now();
  const row = await settleFirst(engine, entry, await rowOf(engine, entry.id));
  if (row.state === filing.to) return row;
  let through: State[];
  try {
    through = hopsTo(row, filing);
    if (filing.refusesFaulted ?? !force) refuseFaulted(row);
  } catch (error) {
    await engine.registry.ledger.append([
      line(engine, row, cause, `${filing.verb}.refused`, { error: tellable(error) }),
    ]);
    throw error;
  }
  entry.began(filing.verb, row);
  try {
    if (!(await entry.drained(force ? 0 : engine.config.drainMs)) && !force) throw busy(row);
    await begin(engine, row, cause, {
      verb: filing.verb,
      to: filing.to,
      fromPath: row.vfsPath,
      toPath: filing.toPath(row),
    });
    try {
      return await entry.exclusive(async () => {
        engine.reached(`${filing.verb}.intent`);
        const identity = await endProcess(engine, entry, row, filing, force);
        const filed = await filing.work(row, force, identity);
        const after = await engine.registry.instances.commit({
          id: row.id,
          from: row.state,
          to: filing.to,
          through,
          generation: row.generation,
          ...filed,
          now: now(engine),
          ledger: transitionLines(engine, row, cause, [row.state, ...through, filing.to], since(started)),
        });
        engine.reached(`${filing.verb}.committed`);
        await tidying(engine, row.id, () => filing.after?.(row, after));
        return after;
      });
    } catch (error) {
      await takingBack(engine, row.id, () => failed(engine, entry, row, cause, filing, error));
      throw error;
    }
  } finally {
    entry.ended();
  }
}

/** A line for each hop of a way; what it took is the last one's. */
function transitionLines(
  engine: Pick<Engine, 'clock'>,
  row: InstanceRow,
  cause: Cause,
  way: readonly State[],
  tookMs: number | null,
): LedgerEntry[] {
  return way.slice(1).map((to, at) =>
    line(engine, row, cause, 'transition', {
      from: way[at] ?? null,
      to,
      tookMs: at === way.length - 2 ? tookMs : null,
    }),
  );
}

function busy(row: InstanceRow): WinterdockError {
  return new WinterdockError('conflict', `A call is running in the sandbox "${row.id}".`, {
    hint: 'Wait for it, or use force to end it.',
  });
}

async function endProcess(
  engine: Engine,
  entry: Entry,
  row: InstanceRow,
  filing: Filing,
  force: boolean,
): Promise<string | null> {
  const process = entry.process;
  if (process === null) return null;
  const rescued = row.vfsPath === MEMORY ? false : await rescue(engine, row, process);
  let identity: string | null = rescued === false ? null : rescued.identity;
  try {
    // A process whose file was saved has been ended.
    const closed = rescued !== false || (await process.close({ drainMs: force ? 0 : engine.config.drainMs, force }));
    if (!closed) throw busy(row);
    if (rescued === false) identity = process.identity;
  } catch (error) {
    if (entry.process !== process) throw error;
    const stuck = isWinterdockError(error) && error.extra.cause === 'silent';
    if (!force && !stuck) throw error;
    // A process that does not close by force, or answers nothing, is ended, and its file is recovered like any other
    // that was left behind.
    await process.kill('killed');
    if (row.vfsPath !== MEMORY) identity = await engine.readers.settle(absolute(engine, livePath(row.id)));
  }
  entry.process = null;
  if (filing.verb === 'suspend' || filing.verb === 'archive') engine.reached(`${filing.verb}.closed`);
  return identity;
}

/**
 * A filing that did not happen: the intent goes, the failure counts, an active sandbox without a process is suspended.
 */
async function failed(
  engine: Engine,
  entry: Entry,
  row: InstanceRow,
  cause: Cause,
  filing: Filing,
  error: unknown,
): Promise<void> {
  const code = isWinterdockError(error) ? error.code : null;
  const refused = code === 'conflict';
  if (!refused) engine.log.warn({ id: row.id, err: error }, `${filing.verb} failed`);
  // What the disk refuses is not the sandbox's fault, however often it is tried.
  const counts = !refused && code !== 'storage_unavailable' && storageFailure(error) === null;
  const failures = counts ? row.failures + 1 : row.failures;
  const ledger = [
    line(engine, row, cause, `${filing.verb}.${refused ? 'refused' : 'failed'}`, { error: tellable(error) }),
  ];
  const fault =
    code === 'corrupt' || code === 'missing_file'
      ? { fault: code === 'corrupt' ? ('corrupt' as const) : ('missing' as const), reason: tellable(error) }
      : counts && failures >= FAILURES_TO_UNKNOWN
        ? { fault: 'unknown' as const, reason: `${filing.verb} failed ${failures} times: ${tellable(error)}` }
        : null;
  if (fault !== null && fault.fault !== row.fault)
    ledger.push(line(engine, row, cause, 'fault.raised', { reason: fault.fault, error: fault.reason }));
  await entry.exclusive(async () => {
    await putBack(engine, row);
    // Of a damaged file what was recorded stays: it is what a repaired one is compared with.
    const moved = row.state !== 'active' && !refused && code !== 'corrupt' && code !== 'missing_file';
    const file = moved ? { file: recordPutBack(engine, row) ?? row.file } : {};
    await engine.registry.instances.abandon(
      row.id,
      { failures, ...file, ...(fault === null ? {} : { fault }) },
      ledger,
    );
  });
  if (row.state !== 'active' || refused) return;
  if (entry.process !== null) await entry.process.kill('killed');
  entry.process = null;
  const current = await rowOf(engine, row.id);
  await settleDead(engine, entry, current, {
    trigger: cause.trigger,
    fault: null,
    detail: `its process was ended and ${filing.verb} failed`,
  });
}

/** Throws when someone wants to keep what lives only in memory. */
function refuseMemory(row: InstanceRow): void {
  if (row.vfsPath === MEMORY) throw keepsNothing(row);
}

/**
 * active → suspended: the process ends, the file stays in the live drawer, clean. `passing`: from anywhere else by way
 * of `active`. `unasked`: its process has to end, whatever it was created as; otherwise `conflict` for an ephemeral
 * one.
 */
export function suspend(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  force: boolean,
  { passing = false, unasked = false } = {},
): Promise<InstanceRow> {
  return file(
    engine,
    entry,
    cause,
    {
      verb: 'suspend',
      to: 'suspended',
      unasked,
      ...(passing ? { through: ['active'] } : {}),
      toPath: (row) => {
        refuseMemory(row);
        return livePath(row.id);
      },
      work: async (row, _force, identity) => {
        let known: Partial<Known> | null = { identity };
        if (row.state !== 'active') {
          known = await comeHome(engine, row, force);
          engine.reached('suspend.brought');
        }
        const stamp = stampOf(absolute(engine, livePath(row.id)));
        if (stamp === null)
          throw new WinterdockError('missing_file', `The file of "${row.id}" is gone from the live drawer.`, {
            hint: waysOut('missing'),
          });
        await syncFolder(dirname(absolute(engine, livePath(row.id))));
        return { vfsPath: livePath(row.id), file: recordOf(stamp, known), bytes: stamp.size };
      },
      after: async (before, after) => {
        if (after.file?.sha256 === null || after.file?.quickCheck === null)
          engine.checkLater(after.id, after.generation);
        if (before.state === 'archived') await forgetArchived(engine, before.id);
      },
    },
    force,
  );
}

/** suspended → frozen: the file goes to the cold drawer. */
export function freeze(engine: Engine, entry: Entry, cause: Cause, force: boolean): Promise<InstanceRow> {
  return file(
    engine,
    entry,
    cause,
    {
      verb: 'freeze',
      to: 'frozen',
      toPath: (row) => engine.cold.pathOf(row.id),
      work: async (row) => {
        const source = absolute(engine, livePath(row.id));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        const known = await ensureMovable(engine, row, source, force);
        await putAway(engine, row, source, engine.cold);
        engine.reached('freeze.moved');
        const stamp = engine.cold.stamp(row.id);
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The cold drawer lost the file of "${row.id}".`);
        return { vfsPath: engine.cold.pathOf(row.id), file: recordOf(stamp, known), bytes: stamp.size };
      },
      // Not before: to be put back a file needs its folder, and a full disk gives no new one.
      after: async (_before, after) => {
        if (after.file?.sha256 === null) engine.checkLater(after.id, after.generation);
        await leaveLive(engine, after.id);
      },
    },
    force,
  );
}

/**
 * active or frozen → archived: compressed, with a listing beside it; the source goes once the row says so. `passing`:
 * from suspended and created by way of `active`.
 */
export function archive(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  force: boolean,
  { passing = false } = {},
): Promise<InstanceRow> {
  return file(
    engine,
    entry,
    cause,
    {
      verb: 'archive',
      to: 'archived',
      ...(passing ? { through: ['active'] } : {}),
      toPath: (row) => {
        if (!force) refuseMemory(row);
        return row.vfsPath === MEMORY ? null : engine.archive.pathOf(row.id);
      },
      work: async (row, _force, identity) => {
        if (row.vfsPath === MEMORY) return { vfsPath: null, file: null, bytes: null };
        let known: Partial<Known> | null = { identity };
        if (row.state === 'created') {
          known = await comeHome(engine, row, force);
          engine.reached('archive.brought');
        } else if (row.vfsPath === null) return { vfsPath: null, file: null, bytes: null };
        const source = absolute(engine, row.state === 'created' ? livePath(row.id) : (row.vfsPath ?? ''));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        if (row.state !== 'active' && row.state !== 'created') {
          known = await ensureMovable(engine, row, source, force);
        }
        const size = stampOf(source)?.size ?? null;
        await listFor(engine, row.id, source, force);
        const sha256 = await putAway(engine, row, source, engine.archive);
        engine.reached('archive.packed');
        if (!isSameBytes(known, sha256)) {
          await forgetArchived(engine, row.id);
          throw corrupt(row, 'its bytes are not those that were filed');
        }
        const stamp = engine.archive.stamp(row.id);
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The archive lost the file of "${row.id}".`);
        return {
          vfsPath: engine.archive.pathOf(row.id),
          file: recordOf(stamp, { ...known, ...(sha256 !== null && { sha256 }) }),
          bytes: size,
        };
      },
      after: async (before) => {
        if (before.vfsPath === MEMORY || (before.vfsPath === null && before.state !== 'created')) return;
        if (before.state === 'created' || placeOf(engine, before) === 'live') await clearLive(engine, before.id);
        else await engine.cold.remove(before.id);
        engine.reached('archive.removed');
      },
    },
    force,
  );
}

/**
 * Lists what is about to be archived. What is so damaged that it cannot be listed is archived by force without a
 * listing, byte for byte.
 */
async function listFor(engine: Engine, id: string, source: string, force: boolean): Promise<void> {
  try {
    await writeListing(engine, id, source);
  } catch (error) {
    if (!force || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
    await removeListing(engine, id);
  }
}

/**
 * archived → deleted: the row first, so that a failure leaves the whole sandbox; then its files. `passing`: from
 * created, which has none.
 */
export function remove(engine: Engine, entry: Entry, cause: Cause, { passing = false } = {}): Promise<InstanceRow> {
  return file(
    engine,
    entry,
    cause,
    {
      verb: 'delete',
      to: 'deleted',
      ...(passing ? { through: ['active', 'archived'] } : {}),
      toPath: () => null,
      work: async () => ({ vfsPath: null, file: null, bytes: null }),
      after: async (before) => {
        await forgetArchived(engine, before.id);
        const place = placeOf(engine, before);
        if (place === 'live') await clearLive(engine, before.id);
        if (place === 'cold') await engine.cold.remove(before.id);
        engine.reached('delete.removed');
      },
    },
    true,
  );
}
