import { isWinterdockError, storageFailure, tellable, WinterdockError } from '../base/errors.ts';
import type { State, Verb } from '../lifecycle/states.ts';
import type { FileRecord, InstanceRow, LedgerEntry } from '../registry/types.ts';
import {
  absolutePath,
  type Engine,
  elapsedMs,
  ledgerEntry,
  livePath,
  MEMORY,
  now,
  requireInstance,
  runRollback,
} from './engine.ts';
import { beginOperation } from './intent.ts';
import { settleDeadProcess } from './process-death.ts';
import { settleIfInterrupted } from './reconcile.ts';
import { rescue } from './rescue.ts';
import { recordReturnedFile, returnFile, runCleanup } from './rollback.ts';
import type { SandboxRuntime } from './runtimes.ts';
import type { AuditContext } from './sessions.ts';
import { intermediateStates, refuseFaulted } from './transition-check.ts';

/** Failures of filing in a row after which a sandbox is `unknown` and left alone. */
const FAILURES_TO_UNKNOWN = 3;

type FilingResult = { vfsPath: string | null; file: FileRecord | null; bytes?: number | null };

export interface FilingSpec {
  verb: Exclude<Verb, 'resume' | 'revive'>;
  to: State;
  /** States that may be passed through where the map has no hop; no process starts. */
  through?: readonly State[];
  /** Nobody wants it filed, its process has to end: an ephemeral one, too, is then where its file is. */
  evenIfEphemeral?: boolean;
  /** Whether a faulted one is refused. Default: unless forced. */
  refusesFaulted?: boolean;
  toPath: (row: InstanceRow) => string | null;
  /**
   * The file work, between the intent and the commit. No one reads the file while it runs. `identity` is what the
   * process that was ended said of the file; null when there was none.
   */
  work: (row: InstanceRow, force: boolean, identity: string | null) => Promise<FilingResult>;
  /** What may go once the row says where the file is now. A failure of it undoes nothing: it is done later. */
  after?: (before: InstanceRow, after: InstanceRow) => Promise<void>;
}

/**
 * Runs one filing under the verbs lock, which the caller holds. Running calls are given the drain time, then `conflict`
 * unless `force`. Three failures in a row raise `unknown`.
 */
export async function runFiling(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  filing: FilingSpec,
  force: boolean,
): Promise<InstanceRow> {
  const started = performance.now();
  const row = await settleIfInterrupted(engine, runtime, await requireInstance(engine, runtime.id));
  if (row.state === filing.to) return row;
  let through: State[];
  try {
    through = intermediateStates(row, filing);
    if (filing.refusesFaulted ?? !force) refuseFaulted(row);
  } catch (error) {
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, audit, `${filing.verb}.refused`, { error: tellable(error) }),
    ]);
    throw error;
  }
  runtime.startOperation(filing.verb, row);
  try {
    if (!(await runtime.waitForCalls(force ? 0 : engine.config.drainMs)) && !force) throw busy(row);
    await beginOperation(engine, row, audit, {
      verb: filing.verb,
      to: filing.to,
      fromPath: row.vfsPath,
      toPath: filing.toPath(row),
    });
    try {
      return await runtime.exclusive(async () => {
        engine.failpoint(`${filing.verb}.intent`);
        const identity = await endProcess(engine, runtime, row, filing, force);
        const filed = await filing.work(row, force, identity);
        const after = await engine.registry.instances.commit({
          id: row.id,
          from: row.state,
          to: filing.to,
          through,
          generation: row.generation,
          ...filed,
          now: now(engine),
          ledger: transitionEntries(engine, row, audit, [row.state, ...through, filing.to], elapsedMs(started)),
        });
        engine.failpoint(`${filing.verb}.committed`);
        await runCleanup(engine, row.id, () => filing.after?.(row, after));
        return after;
      });
    } catch (error) {
      await runRollback(engine, row.id, () => rollBackFiling(engine, runtime, row, audit, filing, error));
      throw error;
    }
  } finally {
    runtime.endOperation();
  }
}

/** A line for each hop of a way; what it took is the last one's. */
function transitionEntries(
  engine: Pick<Engine, 'clock'>,
  row: InstanceRow,
  audit: AuditContext,
  way: readonly State[],
  tookMs: number | null,
): LedgerEntry[] {
  return way.slice(1).map((to, at) =>
    ledgerEntry(engine, row, audit, 'transition', {
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
  runtime: SandboxRuntime,
  row: InstanceRow,
  filing: FilingSpec,
  force: boolean,
): Promise<string | null> {
  const process = runtime.process;
  if (process === null) return null;
  const rescued = row.vfsPath === MEMORY ? false : await rescue(engine, row, process);
  let identity: string | null = rescued === false ? null : rescued.identity;
  try {
    // A process whose file was saved has been ended.
    const closed = rescued !== false || (await process.close({ drainMs: force ? 0 : engine.config.drainMs, force }));
    if (!closed) throw busy(row);
    if (rescued === false) identity = process.identity;
  } catch (error) {
    if (runtime.process !== process) throw error;
    const stuck = isWinterdockError(error) && error.extra.cause === 'silent';
    if (!force && !stuck) throw error;
    // A process that does not close by force, or answers nothing, is ended, and its file is recovered like any other
    // that was left behind.
    await process.kill('killed');
    if (row.vfsPath !== MEMORY) identity = await engine.readers.settle(absolutePath(engine, livePath(row.id)));
  }
  runtime.process = null;
  if (filing.verb === 'suspend' || filing.verb === 'archive') engine.failpoint(`${filing.verb}.closed`);
  return identity;
}

/**
 * A filing that did not happen: the intent goes, the failure counts, an active sandbox without a process is suspended.
 */
async function rollBackFiling(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  audit: AuditContext,
  filing: FilingSpec,
  error: unknown,
): Promise<void> {
  const code = isWinterdockError(error) ? error.code : null;
  const refused = code === 'conflict';
  if (!refused) engine.log.warn({ id: row.id, err: error }, `${filing.verb} failed`);
  // What the disk refuses is not the sandbox's fault, however often it is tried.
  const counts = !refused && code !== 'storage_unavailable' && storageFailure(error) === null;
  const failures = counts ? row.failures + 1 : row.failures;
  const ledger = [
    ledgerEntry(engine, row, audit, `${filing.verb}.${refused ? 'refused' : 'failed'}`, { error: tellable(error) }),
  ];
  const fault =
    code === 'corrupt' || code === 'missing_file'
      ? { fault: code === 'corrupt' ? ('corrupt' as const) : ('missing' as const), reason: tellable(error) }
      : counts && failures >= FAILURES_TO_UNKNOWN
        ? { fault: 'unknown' as const, reason: `${filing.verb} failed ${failures} times: ${tellable(error)}` }
        : null;
  if (fault !== null && fault.fault !== row.fault)
    ledger.push(ledgerEntry(engine, row, audit, 'fault.raised', { reason: fault.fault, error: fault.reason }));
  await runtime.exclusive(async () => {
    await returnFile(engine, row);
    // Of a damaged file what was recorded stays: it is what a repaired one is compared with.
    const moved = row.state !== 'active' && !refused && code !== 'corrupt' && code !== 'missing_file';
    const file = moved ? { file: recordReturnedFile(engine, row) ?? row.file } : {};
    await engine.registry.instances.abandon(
      row.id,
      { failures, ...file, ...(fault === null ? {} : { fault }) },
      ledger,
    );
  });
  if (row.state !== 'active' || refused) return;
  if (runtime.process !== null) await runtime.process.kill('killed');
  runtime.process = null;
  const current = await requireInstance(engine, row.id);
  await settleDeadProcess(engine, runtime, current, {
    trigger: audit.trigger,
    fault: null,
    detail: `its process was ended and ${filing.verb} failed`,
  });
}
