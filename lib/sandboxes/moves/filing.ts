/**
 * What suspend, freeze, archive and delete have in common: a filing ends the process when there is one, moves one clean
 * file, and commits. Knows nothing of what a single verb does with the file.
 */
import { isMachineFailure, isWinterdockError, publicMessage, WinterdockError } from '../../base/errors.ts';
import type { State, Verb } from '../../lifecycle/state-map.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { FileRecord, InstanceRow, LedgerEntry } from '../../registry/types.ts';
import { type Engine, elapsedMs, MEMORY, now, requireOwnInstance, runRollback } from '../engine.ts';
import { beginOperation } from '../recovery/intent.ts';
import { settleDeadProcess } from '../recovery/process-death.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import { rescue } from '../recovery/rescue.ts';
import { recordReturnedFile, returnFile, runCleanup } from '../recovery/rollback.ts';
import { settleFile } from '../recovery/settle-file.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { keepLog, landShipped, settleLeftLog, tellReplica, tellReplicaAndWait, tellRested } from '../shipping.ts';
import { bringNear } from '../store/bring.ts';
import { intermediateStates, refuseFaulted } from './transition-check.ts';

/** After this many failures in a row a sandbox gets the fault `unknown` and is left alone. */
const FAILURES_TO_UNKNOWN = 3;

type FilingResult = { vfsPath: string | null; file: FileRecord | null; bytes?: number | null };

export interface FilingSpec {
  verb: Exclude<Verb, 'resume' | 'revive'>;
  to: State;
  /** The states to pass through when the map has no hop. No process starts. */
  through?: readonly State[];
  /** Whether `work` does without the file: nothing is brought from the store for it. */
  needsNoFile?: boolean;
  /** Files an ephemeral sandbox too: set when its process has to end. */
  evenIfEphemeral?: boolean;
  /** Whether a faulted sandbox is refused. Default: unless forced. */
  refusesFaulted?: boolean;
  toPath: (row: InstanceRow) => string | null;
  /**
   * The file work between intent and commit. Nobody reads the file meanwhile. `identity` is what the process that was
   * ended reported of the file; null without a process.
   */
  work: (row: InstanceRow, force: boolean, identity: string | null) => Promise<FilingResult>;
  /** Removes what the row no longer names, after the commit. A failure undoes nothing: the removal is done later. */
  after?: (before: InstanceRow, after: InstanceRow) => Promise<void>;
}

/**
 * Runs one filing. The caller holds the verbs lock. Running calls get the drain time, then `conflict` unless `force`.
 * The third failure in a row raises the fault `unknown`.
 */
export async function runFiling(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  filing: FilingSpec,
  force: boolean,
): Promise<InstanceRow> {
  const started = performance.now();
  const settled = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
  if (settled.state === filing.to) return settled;
  const row = force ? settled : ((await engine.store?.settleFault(runtime, settled)) ?? settled);
  let through: State[];
  try {
    through = intermediateStates(row, filing);
    if (filing.refusesFaulted ?? !force) refuseFaulted(row);
  } catch (error) {
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, audit, `${filing.verb}.refused`, { error: publicMessage(error) }),
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
        const near = filing.needsNoFile ? row : await bringForFiling(engine, row, force);
        const filed = await filing.work(near, force, identity);
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
        if (after.state === 'deleted') {
          await tellReplicaAndWait(engine, row.id, (replica) => replica.dropped(row.id));
          await engine.moments?.forget(row.id);
        } else tellRested(engine, after);
        engine.failpoint(`${filing.verb}.committed`);
        await runCleanup(engine, row.id, () => filing.after?.(row, after));
        engine.store?.filed(after);
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

/** A ledger entry for each hop of `path`. The last one has the duration. */
function transitionEntries(
  engine: Pick<Engine, 'clock'>,
  row: InstanceRow,
  audit: AuditContext,
  path: readonly State[],
  tookMs: number | null,
): LedgerEntry[] {
  return path.slice(1).map((to, at) =>
    ledgerEntry(engine, row, audit, 'transition', {
      from: path[at] ?? null,
      to,
      tookMs: at === path.length - 2 ? tookMs : null,
    }),
  );
}

/** The row of a sandbox with its file near. By force, one whose object is lost is filed without it. */
async function bringForFiling(engine: Engine, row: InstanceRow, force: boolean): Promise<InstanceRow> {
  try {
    return (await bringNear(engine, row)).row;
  } catch (error) {
    if (!force || !isWinterdockError(error) || error.code !== 'missing_file') throw error;
    return row;
  }
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
  let isKilled = false;
  const closing = { drainMs: force ? 0 : engine.config.drainMs, force, keepLog: () => keepLog(engine, row.id) };
  try {
    // `rescue` has ended the process of a file that it saved.
    const closed = rescued !== false || (await process.close(closing));
    if (!closed) throw busy(row);
    if (rescued === false) identity = process.identity;
  } catch (error) {
    if (runtime.process !== process) throw error;
    const stuck = isWinterdockError(error) && error.extra.cause === 'silent';
    if (!force && !stuck) throw error;
    // A process that does not close by force, or does not answer, is killed; its file is recovered as after a crash.
    await process.kill('killed');
    isKilled = true;
  }
  if (row.vfsPath !== MEMORY) {
    const instead = await landShipped(engine, row);
    if (instead !== null && !force) throw fileGone(row, instead);
    if (isKilled) identity = await settleFile(engine, row);
    else identity = (await settleLeftLog(engine, row)) ?? identity;
  }
  runtime.process = null;
  if (filing.verb === 'suspend' || filing.verb === 'archive') engine.failpoint(`${filing.verb}.closed`);
  return identity;
}

/** What a sandbox left is not its file: there is none any more. */
function fileGone(row: InstanceRow, instead: string): WinterdockError {
  return new WinterdockError('missing_file', `The file of "${row.id}" is gone: ${instead}.`, {
    hint: waysOut('missing'),
  });
}

/**
 * Rolls back a filing that failed: removes the intent, counts the failure, and suspends an active sandbox whose process
 * is gone.
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
  // A refusal of the machine is not the fault of the sandbox, however often it happens.
  const counts = !refused && !isMachineFailure(error);
  const failures = counts ? row.failures + 1 : row.failures;
  const ledger = [
    ledgerEntry(engine, row, audit, `${filing.verb}.${refused ? 'refused' : 'failed'}`, {
      error: counts ? `${publicMessage(error)} (failure ${failures} of ${FAILURES_TO_UNKNOWN})` : publicMessage(error),
    }),
  ];
  const fault =
    code === 'corrupt' || code === 'missing_file'
      ? { fault: code === 'corrupt' ? ('corrupt' as const) : ('missing' as const), reason: publicMessage(error) }
      : counts && failures >= FAILURES_TO_UNKNOWN
        ? { fault: 'unknown' as const, reason: `${filing.verb} failed ${failures} times: ${publicMessage(error)}` }
        : null;
  if (fault !== null && fault.fault !== row.fault)
    ledger.push(ledgerEntry(engine, row, audit, 'fault.raised', { reason: fault.fault, error: fault.reason }));
  const endsActive = row.state === 'active' && !refused;
  if (endsActive && runtime.process !== null) await runtime.process.end();
  if (endsActive) runtime.process = null;
  await runtime.exclusive(async () => {
    if (endsActive && row.vfsPath !== MEMORY) await landShipped(engine, row);
    // A process that goes on has its file where it was.
    if (runtime.process === null) await returnFile(engine, row);
    else tellReplica(engine, row.id, (replica) => replica.goesOn(row.id));
    // The record of a damaged file stays: a repaired file is compared with it.
    const moved = row.state !== 'active' && !refused && code !== 'corrupt' && code !== 'missing_file';
    const file = moved ? { file: (await recordReturnedFile(engine, row)) ?? row.file } : {};
    await engine.registry.instances.abandon(
      row.id,
      { failures, ...file, ...(fault === null ? {} : { fault }) },
      ledger,
    );
  });
  if (!endsActive) return;
  const current = await requireOwnInstance(engine, row.id);
  await settleDeadProcess(engine, runtime, current, {
    trigger: audit.trigger,
    fault: null,
    detail: `its process was ended and ${filing.verb} failed`,
  });
}
