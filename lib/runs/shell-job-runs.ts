/**
 * The jobs of shells: runs that scripts begin with `&`. Gives each a number in its sandbox, and remembers what of its
 * output was shown to who waited for it. Knows nothing of how a script asks.
 */
import { isWinterdockError, publicMessage } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { textOfBytes } from '../workers/protocol/byte-text.ts';
import {
  MOST_JOBS,
  type ShellJobAnswer,
  type ShellJobHost,
  type ShellJobRequest,
  type ShellJobStatus,
} from '../workers/protocol/shell-jobs.ts';
import { exitCodeOf, type StopSignal } from '../workers/protocol/stop-signals.ts';
import type { RunReader, RunRequest, RunStatus } from './run-types.ts';

interface Job {
  run: string;
  /** The offset up to which its output was shown. */
  shown: number;
  /** What it was last sent; TERM before that, null: KILL. */
  signal: StopSignal | null;
}

interface SandboxJobs {
  next: number;
  jobs: Map<number, Job>;
}

/** What it needs of the runs. */
interface RunsOfJobs {
  begin(id: InstanceId, request: RunRequest, audit: AuditContext): Promise<RunStatus>;
  stop(id: InstanceId, run: string, audit: AuditContext, signal: StopSignal | null): Promise<RunStatus>;
  get(id: InstanceId, run: string): Promise<RunStatus>;
  isUnderWay(run: string): boolean;
  reader(id: InstanceId, run: string): Promise<RunReader>;
}

/** Numbers begin where no shell takes them for one of its own. */
const LOWEST_JOB = 1001;
/** Linux has so many numbers of processes. */
const JOB_NUMBERS = 4_000_000;
const SHOWN_BYTES = 1024 * 1024;
/** The shell's exit code for a process that KILL ended, and for one whose end nobody knows. */
const KILLED = 137;

export class ShellJobRuns {
  readonly #runs: RunsOfJobs;
  readonly #log: Logger;
  /** Numbers begin with the second of the server's start: one that a script kept names no job of a later server. */
  readonly #firstJob: number;
  readonly #sandboxes = new Map<InstanceId, SandboxJobs>();

  /** `startedAt`: epoch seconds. */
  constructor(
    runs: RunsOfJobs,
    startedAt: number,
    log: Logger,
    commitEvents: Pick<Registry['commitEvents'], 'onLedgerAppend'>,
  ) {
    this.#runs = runs;
    this.#log = log;
    this.#firstJob = LOWEST_JOB + (Math.floor(startedAt) % JOB_NUMBERS);
    commitEvents.onLedgerAppend(({ lines }) => {
      for (const { type, instance, to } of lines)
        if (type === 'transition' && instance !== null && to === 'deleted') this.#sandboxes.delete(instance);
    });
  }

  /** Answers the scripts of one call. `isRun`: it has the turn of a run, which its jobs must not wait for. */
  hostFor(id: InstanceId, audit: AuditContext, isRun = false): ShellJobHost {
    return async (request, signal) => {
      try {
        return request.op === 'start'
          ? await this.#start(id, request, audit, isRun)
          : await this.#answer(id, request, audit, signal);
      } catch (error) {
        if (!isWinterdockError(error)) this.#log.error({ id, err: error }, 'a job of a shell');
        return { jobs: [], output: [], refusal: publicMessage(error) };
      }
    };
  }

  async #answer(
    id: InstanceId,
    request: Exclude<ShellJobRequest, { op: 'start' }>,
    audit: AuditContext,
    signal: AbortSignal,
  ): Promise<ShellJobAnswer> {
    switch (request.op) {
      case 'list':
        return answerOf(await this.#list(id));
      case 'stop': {
        const job = this.#find(id, request.job);
        if (job === null) return answerOf([]);
        if (job.signal !== null && this.#runs.isUnderWay(job.run)) job.signal = request.signal;
        return answerOf([statusOf(request.job, await this.#runs.stop(id, job.run, audit, request.signal), job)]);
      }
      case 'wait':
        return this.#wait(id, request.jobs, signal);
    }
  }

  async #start(
    id: InstanceId,
    { command, cwd, env }: Extract<ShellJobRequest, { op: 'start' }>,
    audit: AuditContext,
    isOfRun: boolean,
  ): Promise<ShellJobAnswer> {
    const mode = { timeoutMs: 'longest', isOfRun, hasWholeEnv: true } as const;
    const request = { language: 'shell', code: command, cwd, env, ...mode } as const;
    const run = await this.#runs.begin(id, request, audit);
    const sandbox = this.#sandboxes.get(id) ?? { next: this.#firstJob, jobs: new Map<number, Job>() };
    this.#sandboxes.set(id, sandbox);
    const job = sandbox.next;
    sandbox.next += 1;
    sandbox.jobs.set(job, { run: run.id, shown: 0, signal: 'TERM' });
    if (sandbox.jobs.size > MOST_JOBS) {
      const [oldest] = [...sandbox.jobs].find(([, { run: of }]) => !this.#runs.isUnderWay(of)) ?? [];
      if (oldest !== undefined) sandbox.jobs.delete(oldest);
    }
    return answerOf([statusOf(job, run, null)]);
  }

  async #list(id: InstanceId): Promise<ShellJobStatus[]> {
    const known = [...(this.#sandboxes.get(id)?.jobs ?? [])];
    const found = await Promise.all(
      known.map(async ([number, job]) => {
        try {
          return [statusOf(number, await this.#runs.get(id, job.run), job)];
        } catch {
          // The sandbox keeps only so many that have ended.
          return [];
        }
      }),
    );
    return found.flat();
  }

  async #wait(id: InstanceId, numbers: number[], signal: AbortSignal): Promise<ShellJobAnswer> {
    const known = numbers.flatMap((number) => {
      const job = this.#find(id, number);
      return job === null ? [] : [{ number, job }];
    });
    const jobs = await Promise.all(
      known.map(async ({ number, job }) => ({ number, job, reader: await this.#runs.reader(id, job.run) })),
    );
    while (jobs.length > 0 && !signal.aborted) {
      const ended = jobs.find(({ reader }) => reader.status().ending !== null);
      if (ended !== undefined) return endOf(ended);
      const round = new AbortController();
      const either = AbortSignal.any([signal, round.signal]);
      try {
        await Promise.race(jobs.map(({ reader }) => reader.changed(either)));
      } finally {
        round.abort();
      }
    }
    return answerOf([]);
  }

  #find(id: InstanceId, number: number): Job | null {
    return this.#sandboxes.get(id)?.jobs.get(number) ?? null;
  }
}

/** The end of a job, with what it has written since it was last told. */
function endOf({ number, job, reader }: { number: number; job: Job; reader: RunReader }): ShellJobAnswer {
  const { pieces, next } = reader.read(job.shown, SHOWN_BYTES);
  job.shown = Math.max(job.shown, next);
  const output = pieces.map(({ stream, bytes }) => ({ stream, text: textOfBytes(bytes) }));
  return { ...answerOf([statusOf(number, reader.status(), job)]), output };
}

function statusOf(number: number, { command, ending, exitCode }: RunStatus, job: Job | null): ShellJobStatus {
  if (ending === null) return { job: number, command, exitCode: null };
  const stopped = job?.signal ? exitCodeOf(job.signal) : KILLED;
  const codes = { done: exitCode ?? 1, stopped, failed: exitCode ?? 1, lost: KILLED };
  return { job: number, command, exitCode: codes[ending] };
}

function answerOf(jobs: ShellJobStatus[]): ShellJobAnswer {
  return { jobs, output: [], refusal: null };
}
