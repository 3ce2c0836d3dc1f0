/**
 * Boot: every operation that a killed server left half done is rolled forward or back by looking at the files, every
 * process that is gone is filed, and what lies where no row says is set aside. The same for one sandbox, when a person
 * asks for it.
 */
import { existsSync } from 'node:fs';
import { tellable } from '../base/errors.ts';
import type { InstanceRow } from '../registry/types.ts';
import { clearStaging, stampOf } from '../storage/files.ts';
import { bringBack, recordAgain } from './aside.ts';
import { discardMemory, isStorageFailure, settleDead } from './death.ts';
import { absolute, type Engine, line, livePath, MEMORY, now, systemCause } from './engine.ts';
import { placeOf, setLogsAside } from './file-locations.ts';
import { putBack, recordPutBack, tookBack } from './putting-back.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { isAstray, reclaim, type Swept, sweepLive } from './sweep.ts';
import { recordOf } from './trust.ts';

/** Who settles, and why there is something to settle, for the ledger. */
interface Settling {
  cause: Cause;
  because: string;
}

const BOOT: Settling = { cause: systemCause('reconcile'), because: 'the server was restarted' };

/** Verbs that start a process on the file. */
const WAKES: ReadonlySet<string> = new Set(['resume', 'revive']);

/** Settles every unsettled row. Nothing else may run. */
export async function reconcile(engine: Engine): Promise<Swept & { settled: number }> {
  await clearStaging(engine.config.dataFolder);
  let settled = 0;
  for (const row of await engine.registry.instances.unsettled()) {
    try {
      await settle(engine, row, BOOT);
      settled += 1;
    } catch (error) {
      engine.log.error({ id: row.id, err: error }, 'reconcile');
      if (isStorageFailure(error)) engine.interrupted.add(row.id);
      else await giveUp(engine, row, error);
    }
  }
  return { settled, ...(await sweepLive(engine)) };
}

/**
 * A row that could not be settled says so. Nothing runs, so one that was active is not any more, and its file is what a
 * process left.
 */
async function giveUp(engine: Engine, row: InstanceRow, error: unknown): Promise<void> {
  const fault = { fault: 'unknown' as const, reason: `the start could not settle it: ${tellable(error)}` };
  const raised = line(engine, row, BOOT.cause, 'fault.raised', { reason: 'unknown', error: tellable(error) });
  if (row.state !== 'active' || row.vfsPath === MEMORY)
    return engine.registry.instances.abandon(row.id, { fault }, [raised]);
  const stamp = stampOf(absolute(engine, livePath(row.id)));
  await engine.registry.instances.commit({
    id: row.id,
    from: 'active',
    to: 'suspended',
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: stamp === null ? row.file : { ...recordOf(stamp), unsettled: true },
    fault,
    now: now(engine),
    ledger: [line(engine, row, BOOT.cause, 'transition', { from: 'active', to: 'suspended' }), raised],
  });
}

/**
 * Settles one sandbox whose operation nobody carries out any more, as a boot would: what has happened to its file
 * decides. A process that it still has is ended. The caller holds the verbs lock.
 */
export async function settleInterrupted(engine: Engine, entry: Entry, row: InstanceRow, cause: Cause): Promise<void> {
  const how = { cause, because: 'it was interrupted' };
  if (row.state !== 'active') return entry.exclusive(() => settle(engine, row, how));
  const { process } = entry;
  entry.process = null;
  await process?.kill('killed');
  await settle(engine, row, how);
}

/**
 * Settles what a sandbox's last operation left, when not even its failure could be written down. The caller holds the
 * verbs lock, so nobody carries out what the row says is under way. Returns the row as it is then.
 */
export async function settleFirst(engine: Engine, entry: Entry, row: InstanceRow): Promise<InstanceRow> {
  if (row.pending !== null) await settleInterrupted(engine, entry, row, systemCause('reconcile'));
  else if (row.state === 'active' && entry.process === null && row.vfsPath !== MEMORY) {
    // Its process is gone, and a disk refused its recovery.
    await settleDead(engine, entry, row, { trigger: 'reconcile', fault: null, detail: 'its process is gone' });
  } else if (row.state === 'active' || !isAstray(engine, row)) return row;
  // Power loss may keep a move and lose what was written of it.
  else if (!(await entry.exclusive(() => reclaim(engine, row)))) return row;
  return (await engine.registry.instances.get(row.id)) ?? row;
}

/**
 * What was not committed did not happen: the file goes back to where the row says. A deletion of an earlier version,
 * which removed the file first, is finished.
 */
async function settle(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  if (row.state === 'active') return settleActive(engine, row, how);
  if (row.pending?.verb === 'delete' && row.vfsPath !== null && !existsSync(absolute(engine, row.vfsPath))) {
    await engine.registry.ledger.append([
      line(engine, row, how.cause, 'reconcile.rolled_forward', { reason: 'delete had removed the file' }),
    ]);
    return discardMemory(engine, row, how.cause);
  }
  if (row.pending?.verb === 'restore') return settleRestore(engine, row, how);
  const place = placeOf(engine, row);
  const live = absolute(engine, livePath(row.id));
  const known = place === 'live' || place === 'cold' ? await takeUp(engine, row, live) : null;
  await putBack(engine, row);
  const file = recordPutBack(engine, row, known);
  await engine.registry.instances.abandon(row.id, file === null ? {} : { file }, [
    tookBack(engine, row, how.because, how.cause),
  ]);
}

/**
 * Takes up the log that a process left which had opened the file. Where none can have, what lies beside the file is not
 * its own.
 */
async function takeUp(engine: Engine, row: InstanceRow, live: string): Promise<{ identity: string | null } | null> {
  if (stampOf(live) === null) return null;
  if (WAKES.has(row.pending?.verb ?? '')) return { identity: await engine.readers.settle(live) };
  await setLogsAside(engine, row, livePath(row.id));
  return null;
}

/** No process outlives the server: what was active is filed as suspended, whatever was being done with it. */
async function settleActive(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const verb = row.pending?.verb;
  await engine.entries.with(row.id, async (entry) => {
    await settleDead(engine, entry, row, {
      trigger: verb === undefined ? 'boot' : 'reconcile',
      fault: null,
      detail: verb === undefined ? how.because : `${how.because} during ${verb}`,
    });
    if (verb !== undefined) await putBack(engine, { ...row, state: 'suspended', vfsPath: row.vfsPath });
  });
}

/** A restore that was not committed did not happen. */
async function settleRestore(engine: Engine, row: InstanceRow, { cause, because }: Settling): Promise<void> {
  if (row.pending !== null) await bringBack(engine, row.id, row.pending);
  const rolledBack = tookBack(engine, row, because, cause);
  await engine.registry.instances.abandon(row.id, { file: recordAgain(engine, row) }, [rolledBack]);
}
