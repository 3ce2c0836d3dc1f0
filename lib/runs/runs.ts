/**
 * Runs: commands that belong to the server and not to the request that began them. Each is written down before anything
 * of it is done, takes its turn among the runs of its sandbox, and counts as a call. Its output is kept in memory,
 * bounded; its end is written down. Knows nothing of HTTP or terminals.
 */

import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { RUN_COMMAND_LENGTH, type RunConclusion, type RunRow } from '../registry/runs.ts';
import type { LedgerEntry, RowPage } from '../registry/types.ts';
import { requireInstance, serverStopping, systemAudit } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes, WakeReport } from '../sandboxes/sandboxes.ts';
import { bytesOfText } from '../workers/protocol/byte-text.ts';
import type { CallAhead, CallCut, ExecRequest, OutputChunk } from '../workers/protocol/instance.ts';
import { StopRequest, type StopSignal, stopRequestOf } from '../workers/protocol/stop-signals.ts';
import { KeptOutputs } from './kept-output.ts';
import { RunFollowers } from './run-followers.ts';
import type { RunCallOutcome, RunObserver, RunReader, RunRequest, RunStatus } from './run-types.ts';
import { RunWaiters } from './run-waiters.ts';
import { ShellJobRuns } from './shell-job-runs.ts';

interface ActiveRun {
  row: RunRow;
  hasStarted: boolean;
  abort: AbortController;
  /** Who asked for its stop. */
  stoppedBy: AuditContext | null;
  waiters: RunWaiters;
  /** Resolves once its end is written down; never rejects. */
  ended: Promise<void>;
}

/** A request with the limits that hold for it. */
type TimedRequest = Omit<RunRequest, 'timeoutMs'> & { timeoutMs: number | undefined; longestMs: number };

/** How long a stop waits for the run's end before it answers. */
const STOP_WAIT_MS = 3000;
/** Pauses between the attempts to write down the end of a run. */
const RETRY_MS = [200, 1000, 5000, 20_000];
const LOST_BATCH = 200;

export class Runs {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #registry: Registry;
  readonly #sandboxes: Sandboxes;
  readonly #outputs: KeptOutputs;
  readonly #followers = new RunFollowers();
  /** The runs that scripts have begun with `&`. */
  readonly jobs: ShellJobRuns;
  readonly #active = new Map<string, ActiveRun>();
  readonly #listeners = new Set<(run: RunRow) => void>();
  #stopping = false;

  constructor(parts: { config: Config; clock: Clock; log: Logger; registry: Registry; sandboxes: Sandboxes }) {
    this.#config = parts.config;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#registry = parts.registry;
    this.#sandboxes = parts.sandboxes;
    this.#outputs = new KeptOutputs(parts.config);
    this.jobs = new ShellJobRuns(this, epochSeconds(parts.clock), parts.log, parts.registry.commitEvents);
  }

  /** Calls `listener` when a run is written down, starts and has ended. Returns the unsubscriber. */
  onChange(listener: (run: RunRow) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether a run is under way. */
  isUnderWay(run: string): boolean {
    return this.#active.has(run);
  }

  /** Ends the runs that an earlier server of this host left: each is `lost`, with a ledger line. */
  async start(): Promise<void> {
    const audit = { ...systemAudit('boot'), reason: null };
    for (;;) {
      const left = await this.#registry.runs.underWay(LOST_BATCH);
      for (const row of left) {
        const ended: RunConclusion = {
          ...endedFields(row),
          ending: 'lost',
          endedMs: this.#clock.now(),
          reason:
            'The server ended under it. What was written by commands that had ended is kept; a loop is one command.',
        };
        await this.#registry.runs.end(row.id, ended, [this.#line(row, audit, 'run.lost', `${row.id} was under way`)]);
      }
      if (left.length < LOST_BATCH) return;
    }
  }

  /**
   * Begins a run; resolves when it is written down. Throws `gone`, `archived`, a fault, `capability`, `quota_exceeded`,
   * `validation`, `capacity`.
   */
  async begin(
    id: InstanceId,
    request: RunRequest,
    audit: AuditContext,
    listener: RunObserver = {},
  ): Promise<RunStatus> {
    if (this.#stopping) throw serverStopping();
    const { runsPerSandbox, runsPerTenant, runsKept } = this.#config;
    const { language, code, cwd = '/workspace', terminal = null } = request;
    const { tenant } = await this.#sandboxes.requireCallable(id, language, audit);
    const longestMs = await this.#longestMs(tenant);
    const timeoutMs = request.timeoutMs === 'longest' ? longestMs : request.timeoutMs;
    if (timeoutMs !== undefined && timeoutMs > longestMs) {
      const message = `must be at most ${longestMs}`;
      throw new WinterdockError('validation', 'The time limit is longer than a run may have.', {
        hint: 'WB_MAX_RUN says how long that is, or max_run_s of the tenant.',
        extra: { errors: [{ path: 'timeout_ms', message }] },
      });
    }
    const row = await this.#registry.runs.add(
      {
        id: newId('run'),
        instance: id,
        tenant,
        language,
        command: code.slice(0, RUN_COMMAND_LENGTH).toWellFormed(),
        cwd,
        terminal,
        createdMs: this.#clock.now(),
        actor: audit.actor,
      },
      { perSandbox: runsPerSandbox, perTenant: runsPerTenant, keptPerSandbox: runsKept },
    );
    this.#outputs.open(row.id, tenant);
    const run: ActiveRun = {
      row,
      hasStarted: false,
      abort: new AbortController(),
      stoppedBy: null,
      waiters: new RunWaiters(row.id),
      ended: Promise.resolve(),
    };
    this.#active.set(row.id, run);
    run.ended = this.#carryOut(run, { ...request, timeoutMs, longestMs }, audit, listener);
    this.#tellChange(run);
    return this.#statusOf(row);
  }

  async get(id: InstanceId, run: string): Promise<RunStatus> {
    return this.#statusOf(await this.#rowOf(id, run));
  }

  /** Newest first. */
  async list(id: InstanceId, limit: number, cursor?: string): Promise<RowPage<RunStatus>> {
    await requireInstance({ registry: this.#registry }, id);
    const { rows, next } = await this.#registry.runs.list(id, limit, cursor);
    return { rows: rows.map((row) => this.#statusOf(row)), next };
  }

  /**
   * Stops a run and waits a moment for its end. One that has ended stays as it is. `signal`: a script that has an
   * action for it goes on for a while; null: it is ended at once.
   */
  async stop(id: InstanceId, run: string, audit: AuditContext, signal: StopSignal | null = 'TERM'): Promise<RunStatus> {
    const row = await this.#rowOf(id, run);
    const active = this.#active.get(run);
    if (active === undefined) return this.#statusOf(row);
    active.stoppedBy ??= audit;
    const { abort } = active;
    const earlier = stopRequestOf(abort.signal);
    if (earlier === null) abort.abort(signal === null ? undefined : new StopRequest(signal));
    else earlier.send(signal);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_WAIT_MS);
    });
    await Promise.race([active.ended, late]);
    clearTimeout(timer);
    return this.get(id, run);
  }

  async reader(id: InstanceId, run: string): Promise<RunReader> {
    let row = await this.#rowOf(id, run);
    const active = this.#active.get(run);
    return {
      status: () => {
        row = active?.row ?? row;
        return this.#statusOf(row);
      },
      read: (offset, most) => this.#outputs.get(run)?.read(offset, most) ?? { pieces: [], next: offset },
      requirePlace: () => this.#followers.requirePlace(row),
      follow: () => this.#followers.join(row),
      changed: (signal) => (active === undefined ? Promise.resolve() : active.waiters.wait(signal)),
    };
  }

  /** The longest time of a run of this tenant. */
  async #longestMs(tenant: string): Promise<number> {
    const own = await this.#registry.quotas.maxRunSeconds(tenant);
    return own === null ? this.#config.maxRunMs : own * 1000;
  }

  /** Takes no more runs. Those under way end with their sandboxes. */
  stopTaking(): void {
    this.#stopping = true;
  }

  /** Waits until the end of every run is written down. Call it after the sandboxes have stopped. */
  async settled(): Promise<void> {
    await Promise.all([...this.#active.values()].map(({ ended }) => ended));
  }

  async #carryOut(run: ActiveRun, request: TimedRequest, audit: AuditContext, listener: RunObserver): Promise<void> {
    const { id } = run.row;
    let outcome: RunCallOutcome | null = null;
    let failure: unknown = null;
    try {
      outcome = await this.#call(run, request, audit, listener);
    } catch (error) {
      failure = error;
    }
    const ended = this.#endOf(run, outcome, failure);
    run.row = { ...run.row, ...ended };
    this.#outputs.ended(id);
    run.waiters.wake();
    try {
      listener.onEnded?.(this.#statusOf(run.row), outcome);
    } catch (error) {
      this.#log.error({ err: error }, 'a listener of a run failed');
    }
    const stopped = ended.ending === 'stopped' ? [this.#stopLine(run, audit, ended)] : [];
    await this.#record(id, ended, stopped);
    this.#active.delete(id);
    run.waiters.wake();
    this.#tellChange(run);
  }

  #tellChange({ row }: ActiveRun): void {
    for (const listener of this.#listeners) listener(row);
  }

  #call(run: ActiveRun, request: TimedRequest, audit: AuditContext, listener: RunObserver): Promise<RunCallOutcome> {
    const { id, instance } = run.row;
    const { language, code, cwd, env, stdin, timeoutMs, longestMs, kept } = request;
    const push = (chunk: OutputChunk) => {
      this.#outputs.push(id, chunk.stream, bytesOfText(chunk.text), chunk.skipped);
      listener.onOutput?.(chunk);
      run.waiters.wake();
    };
    const options = {
      signal: run.abort.signal,
      isPatient: true,
      onWoke: (woken: WakeReport) => {
        run.row = { ...run.row, woke: woken.woke };
        listener.onWoke?.(woken);
        run.waiters.wake();
      },
      onWaiting: (ahead: () => CallAhead | null) => listener.onWaiting?.(() => (run.hasStarted ? null : ahead())),
      onStarted: () => {
        run.hasStarted = true;
        const startedMs = this.#clock.now();
        run.row = { ...run.row, startedMs };
        // For the next server, should this one be killed under it. Nothing waits for it.
        this.#registry.runs
          .begun(id, startedMs)
          .catch((error) =>
            this.#log.debug({ run: id, error: messageOf(error) }, 'the start of a run was not written down'),
          );
        run.waiters.wake();
        this.#tellChange(run);
      },
    };
    const limit: Pick<ExecRequest, 'timeoutMs' | 'longestMs' | 'background' | 'commitsMeanwhile'> = {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      longestMs,
      commitsMeanwhile: true,
      // Somebody waits at a terminal: its lines take the turns of calls.
      ...(request.terminal === undefined ? { background: request.isOfRun ? ('job' as const) : ('run' as const) } : {}),
    };
    if (language === 'shell') {
      const exec = {
        command: code,
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
        ...(stdin === undefined ? {} : { stdin }),
        ...(kept === undefined ? {} : { kept }),
        ...limit,
        endless: true,
      };
      return this.#sandboxes.exec(instance, exec, audit, {
        ...options,
        onOutput: push,
        hasWholeEnv: request.hasWholeEnv ?? false,
        onJob: this.jobs.hostFor(instance, audit, limit.background !== undefined),
      });
    }
    return this.#sandboxes.eval(instance, { language, code, ...limit }, audit, options).then((evaluated) => {
      for (const stream of ['stdout', 'stderr'] as const)
        if (evaluated[stream] !== '') push({ stream, text: evaluated[stream] });
      return evaluated;
    });
  }

  #endOf(run: ActiveRun, outcome: RunCallOutcome | null, failure: unknown): RunConclusion {
    const common = { ...endedFields(run.row), endedMs: this.#clock.now(), outputBytes: this.#endOfOutput(run.row) };
    if (outcome === null) {
      const wasStopped = run.stoppedBy !== null || this.#stopping;
      if (!wasStopped) this.#logUnexpected(failure);
      return wasStopped
        ? { ...common, ending: 'stopped', reason: this.#stopReason(run, null) }
        : { ...common, ending: 'failed', reason: publicMessage(failure) };
    }
    const exitCode = 'exitCode' in outcome ? outcome.exitCode : outcome.ok ? 0 : 1;
    const { cutOff = null, tookMs } = outcome;
    const gaveWay = run.stoppedBy !== null && (exitCode === INTERRUPTED || ('ok' in outcome && !outcome.ok));
    const wasStopped = cutOff === 'closing' || cutOff === 'caller' || gaveWay;
    return {
      ...common,
      ending: wasStopped ? 'stopped' : 'done',
      exitCode,
      tookMs,
      timedOut: outcome.timedOut && !wasStopped,
      reason: wasStopped ? this.#stopReason(run, cutOff) : null,
    };
  }

  #stopReason(run: ActiveRun, cutOff: CallCut | null): string {
    if (run.stoppedBy !== null) return 'Somebody stopped it.';
    if (this.#stopping) return 'The server was stopped before it had ended.';
    return cutOff === 'closing' ? 'Its sandbox was filed before it had ended.' : 'It was stopped.';
  }

  #stopLine({ row, stoppedBy }: ActiveRun, audit: AuditContext, { reason }: RunConclusion): LedgerEntry {
    const by = stoppedBy ?? (this.#stopping ? systemAudit('stop') : audit);
    return this.#line(row, by, 'run.stopped', `${row.id}: ${reason}`);
  }

  #line(row: RunRow, audit: AuditContext, type: string, reason: string): LedgerEntry {
    return ledgerEntry({ clock: this.#clock }, { id: row.instance, tenant: row.tenant }, { ...audit, reason }, type);
  }

  #logUnexpected(failure: unknown): void {
    if (!isWinterdockError(failure)) this.#log.error({ err: failure }, 'a run failed');
  }

  /** Writes down the end of a run. When that fails for long, the next start finds it under way and calls it lost. */
  async #record(id: string, ended: RunConclusion, lines: LedgerEntry[]): Promise<void> {
    for (const pause of [...RETRY_MS, null]) {
      try {
        return await this.#registry.runs.end(id, ended, lines);
      } catch (error) {
        this.#log.warn({ run: id, error: messageOf(error) }, 'the end of a run was not written down');
        if (pause === null || this.#stopping) return;
        await new Promise((resolve) => setTimeout(resolve, pause).unref());
      }
    }
  }

  /** The run of a sandbox. Throws `not_found`, also for that of another one. */
  async #rowOf(id: InstanceId, run: string): Promise<RunRow> {
    await requireInstance({ registry: this.#registry }, id);
    const active = this.#active.get(run);
    const row = active?.row.instance === id ? active.row : await this.#registry.runs.get(id, run);
    if (row !== null) return row;
    throw new WinterdockError('not_found', `The sandbox "${id}" has no run "${run}".`);
  }

  #endOfOutput(row: RunRow): number {
    return this.#outputs.get(row.id)?.end ?? row.outputBytes;
  }

  #statusOf(stored: RunRow): RunStatus {
    const active = this.#active.get(stored.id);
    const row = active?.row ?? stored;
    const end = this.#endOfOutput(row);
    return {
      ...row,
      outputBytes: end,
      outputStart: this.#outputs.get(row.id)?.start ?? end,
      state: row.ending ?? (active?.hasStarted === true ? 'running' : 'queued'),
    };
  }
}

/** The shell's exit code for an interrupt. */
const INTERRUPTED = 130;

function endedFields({
  startedMs,
  exitCode,
  tookMs,
  woke,
  outputBytes,
}: RunRow): Omit<RunConclusion, 'ending' | 'endedMs'> {
  return { startedMs, exitCode, tookMs, timedOut: false, reason: null, woke, outputBytes };
}
