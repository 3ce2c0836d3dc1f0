/**
 * Whether one process answers, and whether it is paused: health checks of an idle process, acknowledgements after a
 * silence, the pause of an idle or silent process and its continuation. Knows no calls.
 */

import { AnswerWatch } from './answer-watch.ts';
import { cpuSecondsOf } from './cpu-use.ts';
import { HEALTH_CHECK_TIMES, HealthCheck, type HealthCheckTimes, KILL_AFTER_CHECKS } from './health-check.ts';
import { LivenessGate } from './liveness-gate.ts';
import { ProcessPause } from './process-pause.ts';
import type { PauseReport, SilenceWatcher } from './protocol/instance.ts';
import type { FromInstance, NumberedRequest, ToInstance } from './protocol/protocol.ts';

interface WatchedProcess {
  readonly worker: {
    readonly pid: number;
    readonly isHeld: boolean;
    signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM' | 'SIGKILL'): void;
  };
  send(message: ToInstance): void;
  /** Whether it has its file open, no close is under way and no call runs or waits: then it answers at once. */
  isQuiet(): boolean;
  /** Whether a write or read has no answer yet. */
  isPending(): boolean;
  /** It did not answer in time, and is to be ended. */
  onSilent(): void;
}

export class Liveness {
  readonly #process: WatchedProcess;
  readonly #times: HealthCheckTimes;
  readonly #health: HealthCheck;
  readonly #gate: LivenessGate;
  readonly #pause: ProcessPause;
  readonly #watchers: SilenceWatcher[] = [];
  #thawing: Promise<number | null> | null = null;
  #terminating: NodeJS.Timeout | null = null;
  #hasExited = false;
  /** Somebody else of the server has stopped it. */
  #isHeld = false;
  /** When it was last asked for. */
  #cpuSeconds = 0;

  constructor(process: WatchedProcess, times: Partial<HealthCheckTimes>) {
    this.#process = process;
    this.#times = { ...HEALTH_CHECK_TIMES, ...times };
    const watched = {
      get pid() {
        return process.worker.pid;
      },
      isHeld: () => this.#isHeld || this.#pause.isPaused || process.worker.isHeld,
    };
    const watchAnswer = () => new AnswerWatch(watched);
    this.#health = new HealthCheck(() => process.send({ type: 'ping' }), this.#times.giveUpAfterMs, watchAnswer);
    this.#gate = new LivenessGate(this.#health, () => process.onSilent());
    this.#pause = new ProcessPause({
      get pid() {
        return process.worker.pid;
      },
      isIdle: () => process.isQuiet() && !process.isPending() && !this.#health.isAsking,
      trim: (id) => process.send({ type: 'trim', id }),
      signal: (name) => process.worker.signal(name),
    });
  }

  get thermal(): 'hot' | 'warm' {
    return this.#pause.isPaused ? 'warm' : 'hot';
  }

  pause(): Promise<PauseReport | null> {
    return this.#pause.pause();
  }

  /** See InstanceProcess. */
  thaw(): Promise<number | null> {
    if (this.#pause.isPaused) this.#startThaw({ asked: false });
    return this.#thawing ?? Promise.resolve(0);
  }

  watch(watcher: SilenceWatcher): void {
    this.#watchers.push(watcher);
  }

  /**
   * The request as it is to be sent now; see `LivenessGate.pass`. A paused process is continued, and has to acknowledge
   * it; so has one that is giving memory back, however recently it sent something.
   */
  pass(message: NumberedRequest, idle: boolean): NumberedRequest {
    if (this.#pause.isPaused) this.#startThaw({ asked: true });
    return this.#gate.pass(message, idle, { doubtful: this.#thawing !== null || this.#pause.isAsking });
  }

  /** Stops the process or lets it go on, for another reason than a pause. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#isHeld = name === 'SIGSTOP';
    this.#process.worker.signal(name);
  }

  /** Call it before every message: the process has to run to receive it. */
  beforeMessage(): void {
    this.#pause.beforeMessage();
  }

  /** Notes a message of any kind from the process. */
  messageReceived(): void {
    this.#health.messageReceived();
  }

  /** Takes an answer that no call waits for. */
  answered(message: FromInstance): void {
    if (message.type === 'pong') this.#health.pongReceived();
    if (message.type === 'trimmed') this.#pause.trimmed(message.id, message.holds);
  }

  /** Notes an acknowledgement. False when none was awaited. */
  acknowledged(id: number): boolean {
    return this.#gate.acknowledged(id);
  }

  /** Whether the process has certainly not started this message. */
  neverBegan(id: number): boolean {
    return this.#gate.neverBegan(id);
  }

  /** Asks the process to end, and kills it when it has not in time. A paused one has to run to do it. */
  terminate(): void {
    this.#pause.continue();
    this.#process.worker.signal('SIGTERM');
    this.cpuSeconds();
    this.#terminating ??= setTimeout(() => this.kill(), this.#times.termMs);
  }

  /** Kills the process at once. */
  kill(): void {
    this.cpuSeconds();
    this.#process.worker.signal('SIGKILL');
  }

  /** See InstanceProcess. */
  cpuSeconds(): number {
    // Its id may be another's by then.
    if (!this.#hasExited) this.#cpuSeconds = Math.max(this.#cpuSeconds, cpuSecondsOf(this.#process.worker.pid) ?? 0);
    return this.#cpuSeconds;
  }

  processExited(): void {
    this.#hasExited = true;
    if (this.#terminating !== null) clearTimeout(this.#terminating);
    this.#health.processExited();
    this.#pause.processExited();
  }

  /** One check of an idle process, to be called every few seconds. A paused or held one is never checked. */
  check(): void {
    if (!this.#process.isQuiet() || this.#pause.isPaused || this.#process.worker.isHeld) return;
    const unanswered = this.#health.check();
    const isPending = this.#process.isPending();
    if (unanswered === this.#times.silentAfterChecks) {
      // It has nothing to do, and must not take processor time for ever.
      if (!isPending) this.#pause.stop();
      for (const watcher of this.#watchers) watcher.onSilent({ paused: !isPending, checks: unanswered });
    }
    // Otherwise a pending write would wait for ever.
    if (unanswered >= KILL_AFTER_CHECKS && isPending) this.#process.onSilent();
  }

  /** Continues the process and resolves true when it answers. `hurried`: within a second. */
  isAlive({ hurried }: { hurried: boolean }): Promise<boolean> {
    this.#pause.continue();
    return this.#health.isAlive({ hurried });
  }

  /** `asked`: a message that is acknowledged follows at once, so no ping is needed. */
  #startThaw({ asked }: { asked: boolean }): void {
    const started = performance.now();
    this.#pause.continue();
    // One that was paused for its silence left a ping unanswered: it gets its time anew.
    if (this.#health.isAsking) this.#health.startAnew(this.#times.readyMs);
    this.#thawing = this.#health.isAlive({ asked }).then((isAlive) => {
      this.#thawing = null;
      if (!isAlive) {
        this.#process.onSilent();
        return null;
      }
      const tookMs = Math.round((performance.now() - started) * 100) / 100;
      for (const watcher of this.#watchers) watcher.onThawed(tookMs);
      return tookMs;
    });
  }
}
