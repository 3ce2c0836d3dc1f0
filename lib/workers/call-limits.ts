/**
 * Enforces the limits of one call from outside its process: time and memory. The caller decides what happens when one
 * is exceeded.
 */

import { residentBytes } from '../base/resident-memory.ts';
import type { QueuedCall } from './call-queue.ts';
import type { Worker } from './process.ts';
import type { ExecRequest } from './protocol/instance.ts';
import type { PolicyProfile } from './protocol/policies.ts';
import { maxGrowthBytes, residentBytesOf, watchMemory } from './protocol/process-memory.ts';

/** Grace period after the time limit, in which an interpreter may stop by itself before its process is killed. */
const OVERTIME_MS = 1000;

/**
 * Watches a call that was just sent. Calls `onExceeded` at most once, with one sentence. Returns the function that ends
 * the watch.
 */
function watchCallLimits(
  worker: Pick<Worker, 'pid' | 'processes'>,
  limits: { timeoutMs: number; baselineBytes: number; profile: PolicyProfile & { name: string } },
  onExceeded: (cause: 'timeout' | 'memory', detail: string) => void,
): () => void {
  const { timeoutMs, baselineBytes, profile } = limits;
  let isOver = false;
  const overtime = setTimeout(() => {
    // After a busy while a server has its timers before the answers that lie in pipes: those are read first.
    setImmediate(() =>
      setImmediate(() => {
        if (!isOver) onExceeded('timeout', `A call ran longer than ${timeoutMs} ms and did not stop by itself.`);
      }),
    );
  }, timeoutMs + OVERTIME_MS);
  const unwatch = watchMemory(worker, baselineBytes + maxGrowthBytes(profile), () => {
    onExceeded('memory', `A call took ${tooMuch(profile)}`);
  });
  return () => {
    isOver = true;
    clearTimeout(overtime);
    unwatch();
  };
}

function tooMuch({ name, memoryBytes }: PolicyProfile & { name: string }): string {
  return `more than the ${memoryBytes / 1024 / 1024} MiB that the policy "${name}" allows.`;
}

/** How long a call may take: what it asks for, or the time of its profile; at most what it is allowed. */
export function cappedTimeout(
  { timeoutMs, mostMs = Number.POSITIVE_INFINITY, longestMs }: Pick<ExecRequest, 'timeoutMs' | 'mostMs' | 'longestMs'>,
  profile: PolicyProfile,
): number {
  const longest = longestMs ?? Math.min(profile.longestMs, mostMs);
  return Math.max(0, Math.min(timeoutMs ?? profile.timeMs, longest));
}

/** Most milliseconds of a whole workflow that asks for no time. */
const MAX_WORKFLOW_MS = 600_000;

/**
 * The limits of a call of components. Together its steps have what it asks for, and each as much, or the time of the
 * profile where that is longer. A call that asks for nothing has the time of the profile for each step.
 */
export function componentLimits(
  timeoutMs: number | undefined,
  steps: number,
  { timeMs, longestMs }: Pick<PolicyProfile, 'timeMs' | 'longestMs'>,
): { timeoutMs: number; stepMs: number } {
  const most = Math.min(MAX_WORKFLOW_MS, timeMs * Math.max(1, steps));
  if (timeoutMs === undefined) return { timeoutMs: most, stepMs: timeMs };
  const asked = Math.max(0, timeoutMs);
  return { timeoutMs: asked, stepMs: Math.max(timeMs, Math.min(asked, longestMs)) };
}

/** Watches the running call of one process, one after the other. */
export class CallWatch {
  readonly #worker: Pick<Worker, 'pid' | 'processes'>;
  readonly #profile: PolicyProfile & { name: string };
  readonly #onExceeded: (cause: 'timeout' | 'memory', detail: string) => void;
  /** Resident bytes of the process before its first call. */
  #baselineBytes = 0;
  #stop: () => void = () => {};

  constructor(
    worker: Pick<Worker, 'pid' | 'processes'>,
    profile: PolicyProfile & { name: string },
    onExceeded: (cause: 'timeout' | 'memory', detail: string) => void,
  ) {
    this.#worker = worker;
    this.#profile = profile;
    this.#onExceeded = onExceeded;
  }

  /** Takes the memory of the process as it is now for that of the idle one. */
  measure(): void {
    this.#baselineBytes = residentBytes(this.#worker.pid);
  }

  /** Starts the limits of a call that was just sent to a process with its file open. */
  start(queued: QueuedCall): void {
    queued.begin();
    const { timeoutMs } = queued.call;
    const limits = { timeoutMs, baselineBytes: this.#baselineBytes, profile: this.#profile };
    this.#stop = watchCallLimits(this.#worker, limits, this.#onExceeded);
  }

  stop(): void {
    this.#stop();
  }

  /**
   * Between calls: a process that has forked, which none of ours does, may not hold more than a call may take either.
   * Runs `goesOn` unless it does.
   */
  check(goesOn: () => void): void {
    const mostBytes = this.#baselineBytes + maxGrowthBytes(this.#profile);
    const hasForked = this.#worker.processes().pids.length > 1;
    if (!hasForked || residentBytesOf(this.#worker) <= mostBytes) goesOn();
    else this.#onExceeded('memory', `What its process has forked took ${tooMuch(this.#profile)}`);
  }
}
