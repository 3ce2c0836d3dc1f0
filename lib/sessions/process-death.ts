/** What happens to the row and the file when a process is gone without having been asked to go. */
import { dirname } from 'node:path';
import { isWinterdockError, publicMessage, storageFailure } from '../base/errors.ts';
import { plan } from '../lifecycle/plan.ts';
import type { Fault, Trigger } from '../lifecycle/words.ts';
import type { InstanceRow, LedgerEntry } from '../registry/types.ts';
import { lastingFolder, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, ledgerEntry, livePath, MEMORY, now, systemAudit } from './engine.ts';
import { fileRecord } from './file-verification.ts';
import { isFileOfRow } from './orphan-search.ts';
import type { SandboxRuntime } from './runtimes.ts';

export interface DeadProcess {
  trigger: Trigger;
  /** Fault to raise, null for an orderly reason (a timeout, a restart of the server). */
  fault: Fault | null;
  /** What happened, one sentence. */
  detail: string;
}

/**
 * Files an active sandbox whose process is gone: its WAL is recovered and checkpointed, and the row goes to
 * `suspended`. What cannot be recovered now is filed with its log beside it, and is tried again before anything opens
 * it. The caller holds the verbs lock or is the boot. What was kept only in memory is walked to `deleted`.
 */
export async function settleDeadProcess(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  after: DeadProcess,
): Promise<void> {
  const audit = { ...systemAudit(after.trigger), reason: after.detail };
  if (row.vfsPath === MEMORY) {
    await deleteMemorySandbox(engine, row, audit);
    return;
  }
  await runtime.exclusive(async () => {
    const file = absolutePath(engine, livePath(row.id));
    let fault = after.fault === null ? null : { fault: after.fault, reason: after.detail };
    let failure: unknown = null;
    let identity: string | null = null;
    if (stampOf(file) === null) await fetchFromCold(engine, row, file);
    if (stampOf(file) === null) {
      fault = { fault: 'missing', reason: 'its file is not where the row says' };
    } else {
      try {
        identity = await engine.readers.settle(file);
      } catch (error) {
        // A disk that refuses says nothing of the file: the row stays active, and a later round of the ladder, the next
        // request or the next start recovers it. While the server stops nobody recovers anything.
        if (isStorageFailure(error) || (engine.stop.aborted && faultOf(error) === null)) {
          engine.interrupted.add(row.id);
          throw error;
        }
        failure = error;
        fault = faultOf(error) ?? fault;
        engine.log.warn({ id: row.id, err: error }, 'a file could not be recovered');
      }
    }
    const stamp = stampOf(file);
    const ledger: LedgerEntry[] = [ledgerEntry(engine, row, audit, 'transition', { from: 'active', to: 'suspended' })];
    if (failure !== null)
      ledger.push(ledgerEntry(engine, row, audit, 'recovery.failed', { error: publicMessage(failure) }));
    if (fault !== null) {
      ledger.push(ledgerEntry(engine, row, audit, 'fault.raised', { reason: fault.fault, error: fault.reason }));
    }
    const filed = await engine.registry.instances.commit({
      id: row.id,
      from: 'active',
      to: 'suspended',
      generation: row.generation,
      vfsPath: livePath(row.id),
      file:
        stamp === null
          ? null
          : { ...fileRecord(stamp, { identity }), ...(failure === null ? {} : { unsettled: true }) },
      bytes: stamp?.size ?? null,
      ...(fault === null ? {} : { fault }),
      now: now(engine),
      ledger,
    });
    if (stamp !== null && failure === null) engine.scheduleCheck(filed.id, filed.generation);
  });
}

/** Whether a disk refused, and nothing was found out about the file. */
export function isStorageFailure(error: unknown): boolean {
  return storageFailure(error) !== null || (isWinterdockError(error) && error.code === 'storage_unavailable');
}

/** What a failed recovery says of the file: a reader that holds it says nothing. */
function faultOf(error: unknown): { fault: Fault; reason: string } | null {
  const code = isWinterdockError(error) ? error.code : 'internal';
  if (isStorageFailure(error) || code === 'conflict') return null;
  return { fault: code === 'corrupt' ? 'corrupt' : 'unknown', reason: publicMessage(error) };
}

/**
 * Brings a file home whose move there was undone by power loss: it lies in the cold drawer and is the one that was
 * recorded.
 */
async function fetchFromCold(engine: Engine, row: InstanceRow, file: string): Promise<void> {
  if (!(await isFileOfRow(engine, row, engine.cold.pathOf(row.id)))) return;
  await lastingFolder(dirname(file));
  await (await engine.cold.fetch(row.id, file)).makeDurable();
}

/** Walks a sandbox of which nothing is left to file through `archived` to `deleted`, from wherever it is. */
export async function deleteMemorySandbox(
  engine: Engine,
  row: InstanceRow,
  audit: ReturnType<typeof systemAudit>,
): Promise<void> {
  const hops = plan(row.state, 'deleted') ?? [];
  const way = [row.state, ...hops];
  await engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to: 'deleted',
    through: hops.slice(0, -1),
    generation: row.generation,
    vfsPath: null,
    file: null,
    bytes: null,
    now: now(engine),
    ledger: hops.map((to, at) => ledgerEntry(engine, row, audit, 'transition', { from: way[at] ?? null, to })),
  });
}
