/**
 * The timers of a running Python (`signal.alarm`, `signal.setitimer`), which its build has not, and its sleep, in place
 * of Emscripten's, which keeps a processor busy. Runs in the interpreter's thread.
 */
import type { InterpreterMemory } from './interpreter-memory.ts';

/** A file that is not there: its mode is how long to sleep, in milliseconds. */
const SLEEP_PATH = '/dev/.sleep';
/** What sets a timer: its number, its time and its interval, in milliseconds. */
const TIMER_PATH = '/dev/.timer';
const TIMER = /^\/dev\/\.timer\/(\d)\/([\d.e+-]+)\/([\d.e+-]+)$/;
/** The longest wait at a time: a thread that is ended notices it between two. In milliseconds. */
const WAIT_MS = 250;

/** Lines of a Python function after which `time.sleep` waits here. Parts of a millisecond are the original's. */
export const SLEEP_SETUP: readonly string[] = [
  ' import os, time',
  ' plain_sleep, clock, wait = time.sleep, time.monotonic, os.chmod',
  ' def sleep(seconds, /):',
  '  if type(seconds) not in (int, float) or not 0.001 <= seconds < 1e9:',
  '   return plain_sleep(seconds)',
  '  end = clock() + seconds',
  '  while (left := end - clock()) >= 0.001:',
  `   wait("${SLEEP_PATH}", min(int(left * 1000), 2**30))`,
  '  if left > 0:',
  '   plain_sleep(left)',
  ' sleep.__module__, sleep.__qualname__, sleep.__doc__ = "time", "sleep", plain_sleep.__doc__',
  ' time.sleep = sleep',
];

/** Lines that the module `signal` is completed with. */
export const TIMER_LINES: readonly string[] = [
  'def _made():',
  '    import errno, operator, os, time',
  '    call, clock, due = os.chmod, time.monotonic, {}',
  '    def getitimer(which, /):',
  '        at, interval = due.get(which, (0.0, 0.0))',
  '        left = at - clock()',
  '        if left > 0: return left, interval',
  '        return (interval - -left % interval if interval and at else 0.0), interval',
  '    def setitimer(which, seconds, interval=0.0, /):',
  '        seconds, interval = float(seconds), float(interval)',
  '        if which not in (0, 1, 2) or seconds < 0 or interval < 0:',
  '            raise ItimerError(errno.EINVAL, os.strerror(errno.EINVAL))',
  '        before = getitimer(which)',
  '        due[which] = (clock() + seconds, interval) if seconds else (0.0, 0.0)',
  `        call(f"${TIMER_PATH}/{int(which)}/{seconds * 1000}/{interval * 1000}", 0)`,
  '        return before',
  '    def alarm(seconds, /):',
  '        left = setitimer(ITIMER_REAL, operator.index(seconds))[0]',
  '        return max(1, int(left + 0.5)) if left else 0',
  `    def pause(): call("${SLEEP_PATH}", 2**30)`,
  '    return alarm, setitimer, getitimer, pause',
  'alarm, setitimer, getitimer, pause = _made()',
  'del _made',
];

export class InterpreterTimers {
  readonly #memory: InterpreterMemory;
  /** When each is due, by its number, in milliseconds of the clock of the process. */
  readonly #due = new Map<number, number>();
  /** After how many milliseconds each is due again. */
  readonly #intervals = new Map<number, number>();
  readonly #never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #isRaising = false;

  constructor(memory: InterpreterMemory) {
    this.#memory = memory;
  }

  /** Whether a signal of a timer is on its way: a program that ends now was ended by it. */
  get isRaising(): boolean {
    return this.#isRaising;
  }

  /** Sets one for a time; null takes it away. */
  #set(timer: number, due: number | null): void {
    if (due === null) this.#due.delete(timer);
    else this.#due.set(timer, due);
    this.#memory.setChecksSignals(this.#due.size > 0);
  }

  /** Raises the signals that are due. Returns 0: there is no other one. */
  check(): number {
    const now = performance.now();
    for (const [timer, due] of [...this.#due]) {
      if (due > now) continue;
      const interval = this.#intervals.get(timer) ?? 0;
      this.#set(timer, interval > 0 ? Math.max(due + interval, now) : null);
      this.#isRaising = true;
      this.#memory.raise(timer, now);
      this.#isRaising = false;
    }
    return 0;
  }

  /** Sets a timer, or sleeps so long or until one is due, when `path` asks for that. */
  takes(path: string, ms: number): boolean {
    if (path === SLEEP_PATH) this.#sleep(ms);
    else {
      const [, timer, first, interval] = TIMER.exec(path)?.map(Number) ?? [];
      if (timer === undefined || first === undefined) return false;
      this.#intervals.set(timer, interval ?? 0);
      this.#set(timer, first > 0 ? performance.now() + first : null);
    }
    return true;
  }

  #sleep(ms: number): void {
    const end = performance.now() + ms;
    for (;;) {
      const next = Math.min(end, ...this.#due.values()) - performance.now();
      if (next <= 0) break;
      Atomics.wait(this.#never, 0, 0, Math.min(next, WAIT_MS));
    }
    this.check();
  }
}
