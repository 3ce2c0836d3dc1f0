/**
 * The process of a worker or a helper, by its own id. Where it has a namespace of processes to itself, the process that
 * the server started waits for it: a wrapper, whose id never takes the place of the other's. Signals go to the process
 * itself; what comes before its id is known waits. Knows nothing of messages.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { forkedOf, holdsFiles, processStat, STAT } from './process-stat.ts';

/** How often it is looked whether the wrapper has begun the worker, in milliseconds. It takes about five. */
const LOOK_MS = 2;
/** How often it is looked whether a process has ended whose wrapper was killed, in milliseconds. */
const END_MS = 5;
/** How long a wrapper may take to begin the worker before a signal to end it reaches the wrapper, in milliseconds. */
const MAX_BEGIN_MS = 5000;

/** A number that no process has, and no group of them: ids end at 2^22. Stands for one that is not known yet. */
export const NO_PROCESS = 0x7fff_ffff;

export class StartedProcessId {
  /** Resolves with the worker's id, or with `NO_PROCESS` when the wrapper ended before it had begun one. */
  readonly known: Promise<number>;
  readonly #child: ChildProcess;
  /** Whether the process that was started waits for the worker. */
  readonly isWrapped: boolean;
  readonly #found = Promise.withResolvers<number>();
  #pid = NO_PROCESS;
  /** When it started: tells it from a later process with its id. */
  #startedAt: string | undefined;
  #hasExited = false;
  /** Signals that wait for the id. */
  #waiting: NodeJS.Signals[] = [];

  /** `isWrapped`: the worker will be the only child of `child`. */
  constructor(child: ChildProcess, isWrapped: boolean) {
    this.#child = child;
    this.isWrapped = isWrapped;
    this.known = this.#found.promise;
    child.once('exit', () => {
      this.#hasExited = true;
      this.#found.resolve(this.#pid);
    });
    if (!isWrapped || child.pid === undefined) this.#take(child.pid ?? NO_PROCESS);
    else void this.#look();
  }

  /** `NO_PROCESS` until it is known. Stays when the process has ended. */
  get pid(): number {
    return this.#pid;
  }

  /** What is wrong with the process that says of itself that it has this id; null when it is the worker. */
  problemWith(ownPid: number): string | null {
    if (!this.isWrapped) {
      const started = this.#child.pid;
      return ownPid === started ? null : `its process is not the one that was started (${ownPid}, not ${started})`;
    }
    // It has just spoken, so the wrapper has begun it.
    if (!this.#isKnown) this.#lookOnce();
    const ids = /^NSpid:\s+(.+)$/m.exec(statusOf(this.#pid))?.[1]?.split(/\s+/).map(Number) ?? [];
    const isIt = this.#isKnown && this.#isStillIt() && ids.at(-1) === ownPid;
    return isIt ? null : `its process is not the one that was started (${ownPid} is not the own id of ${this.#pid})`;
  }

  /** Sends a signal to the worker, or keeps it until its id is known. */
  signal(name: NodeJS.Signals): void {
    if (this.#hasExited) return;
    if (!this.isWrapped) this.#child.kill(name);
    else if (!this.#isKnown) this.#waiting.push(name);
    else this.#send(name);
  }

  /** Call it at the wrapper's exit. Resolves when no process of the worker's namespace is left, however that came. */
  async gone(): Promise<void> {
    // The wrapper ends when the worker has, and all that this has forked; one that was killed says nothing.
    while (this.isWrapped && this.#isKnown && this.#isStillIt() && holdsFiles(this.#pid)) {
      this.#kill('SIGKILL');
      await pause(END_MS);
    }
  }

  get #isKnown(): boolean {
    return this.#pid !== NO_PROCESS;
  }

  #take(pid: number): void {
    this.#pid = pid;
    this.#startedAt = this.isWrapped ? processStat(pid)?.[STAT.startedAt] : undefined;
    this.#found.resolve(pid);
    for (const name of this.#waiting.splice(0)) this.signal(name);
  }

  async #look(): Promise<void> {
    const until = performance.now() + MAX_BEGIN_MS;
    while (!this.#hasExited && !this.#isKnown) {
      this.#lookOnce();
      if (this.#isKnown) return;
      if (this.#waiting.includes('SIGKILL') && performance.now() > until) this.#child.kill('SIGKILL');
      await pause(LOOK_MS);
    }
  }

  #lookOnce(): void {
    // Where this kernel does not tell, it is not proven to be the worker, and does not start.
    const [only, ...others] = forkedOf(this.#child.pid ?? 0);
    if (only !== undefined && others.length === 0 && !this.#isKnown) this.#take(only);
  }

  #isStillIt(): boolean {
    return this.#startedAt !== undefined && processStat(this.#pid)?.[STAT.startedAt] === this.#startedAt;
  }

  #send(name: NodeJS.Signals): void {
    // Its id may be another's when it has ended and its wrapper has not yet.
    if (this.#isStillIt()) this.#kill(name);
  }

  #kill(name: NodeJS.Signals): void {
    try {
      process.kill(this.#pid, name);
    } catch {
      // It has ended, which its exit reports.
    }
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
