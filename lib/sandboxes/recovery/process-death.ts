/** A process that ended without being asked: what happens to its row and its file. */
import { dirname } from 'node:path';
import { isMachineFailure, isWinterdockError, publicMessage } from '../../base/errors.ts';
import { plan } from '../../lifecycle/plan.ts';
import type { Fault, Trigger } from '../../lifecycle/words.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow, LedgerEntry } from '../../registry/types.ts';
import { lastingFolder, stampOf } from '../../storage/files.ts';
import { absolutePath, type Engine, livePath, MEMORY, now, systemAudit } from '../engine.ts';
import { fileRecord } from '../files/file-verification.ts';
import { hashAtFiling } from '../files/filed-hash.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import { landShipped, tellReplicaAndWait, tellRested } from '../shipping.ts';
import { isFileOfRow } from './orphan-search.ts';
import { settleFile } from './settle-file.ts';

export interface DeadProcess {
  trigger: Trigger;
  /** The fault to raise; null for an orderly end (a timeout, a restart of the server). */
  fault: Fault | null;
  /** What happened, one sentence. */
  detail: string;
}

/**
 * Suspends an active sandbox whose process is gone: recovers and checkpoints its WAL. When that fails, the file is
 * filed with its log beside it, and recovered before anything opens it. A sandbox that lived only in memory is deleted.
 * The caller holds the verbs lock, or the server is starting.
 */
export async function settleDeadProcess(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  death: DeadProcess,
): Promise<void> {
  const audit = { ...systemAudit(death.trigger), reason: death.detail };
  if (row.vfsPath === MEMORY) {
    await deleteMemorySandbox(engine, row, audit);
    return;
  }
  await runtime.exclusive(async () => {
    const file = absolutePath(engine, livePath(row.id));
    let fault = death.fault === null ? null : { fault: death.fault, reason: death.detail };
    let failure: unknown = null;
    let identity: string | null = null;
    const instead = await landShipped(engine, row);
    if (stampOf(file) === null) await fetchFromCold(engine, row, file);
    if (stampOf(file) === null) {
      const known = row.fault === 'missing' ? row.faultReason : null;
      const reason = instead === null ? 'its file is not where the row says' : instead;
      fault = { fault: 'missing', reason: known ?? reason };
    } else {
      try {
        identity = await settleFile(engine, row);
      } catch (error) {
        // A refusal of the disk says nothing of the file: the row stays active, and a later round of the ladder, the
        // next request or the next start recovers it. While the server stops nobody recovers anything.
        if (isMachineFailure(error) || (engine.stop.aborted && faultOf(error) === null)) {
          engine.interrupted.add(row.id);
          throw error;
        }
        failure = error;
        fault = faultOf(error) ?? fault;
        engine.log.warn({ id: row.id, err: error }, 'a file could not be recovered');
      }
    }
    const stamp = stampOf(file);
    const sha256 = stamp === null || failure !== null ? null : await hashAtFiling(engine, file, stamp);
    const ledger: LedgerEntry[] = [ledgerEntry(engine, row, audit, 'transition', { from: 'active', to: 'suspended' })];
    if (failure !== null)
      ledger.push(ledgerEntry(engine, row, audit, 'recovery.failed', { error: publicMessage(failure) }));
    if (fault !== null && fault.fault !== row.fault) {
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
          : { ...fileRecord(stamp, { identity, sha256 }), ...(failure === null ? {} : { unsettled: true }) },
      bytes: stamp?.size ?? null,
      ...(fault === null ? {} : { fault }),
      now: now(engine),
      ledger,
    });
    tellRested(engine, filed);
    if (stamp !== null && failure === null) engine.scheduleCheck(filed.id, filed.generation);
  });
}

/** The fault that a failed recovery shows; null when the disk refused or another reader held the file. */
function faultOf(error: unknown): { fault: Fault; reason: string } | null {
  const code = isWinterdockError(error) ? error.code : 'internal';
  if (isMachineFailure(error) || code === 'conflict') return null;
  return { fault: code === 'corrupt' ? 'corrupt' : 'unknown', reason: publicMessage(error) };
}

/**
 * Brings back a file whose move to the live drawer was undone by a power cut: it is in the cold drawer and is the
 * recorded one.
 */
async function fetchFromCold(engine: Engine, row: InstanceRow, file: string): Promise<void> {
  if (!(await isFileOfRow(engine, row, engine.drawers.cold.at(row.id)))) return;
  await lastingFolder(dirname(file));
  await (await engine.drawers.cold.fetch(row.id, file)).makeDurable();
}

/** Deletes a sandbox that has no file, from any state, by the hops of the map. */
export async function deleteMemorySandbox(
  engine: Engine,
  row: InstanceRow,
  audit: ReturnType<typeof systemAudit>,
): Promise<void> {
  const hops = plan(row.state, 'deleted') ?? [];
  const path = [row.state, ...hops];
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
    ledger: hops.map((to, at) => ledgerEntry(engine, row, audit, 'transition', { from: path[at] ?? null, to })),
  });
  await tellReplicaAndWait(engine, row.id, (replica) => replica.dropped(row.id));
}
