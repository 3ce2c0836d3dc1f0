/**
 * The memory budget that the processes of all sandboxes share: what each of them counts, and whether one more fits.
 * Measures a few processes at a time, so that nothing waits for it. Knows nothing of what happens when none fits.
 */
import { privateBytes } from '../base/resident-memory.ts';

const MIB = 1024 * 1024;

/**
 * The least that a process counts: the private memory of one that ran its first calls some seconds ago (15.3 MiB, the
 * median of ten; 13 when it idles or is paused). A process that is starting or spare counts this, and so does every
 * process where the system has no /proc.
 */
export const MIN_PROCESS_BYTES = 16 * MIB;

/**
 * How often a tenth of the processes is measured, in milliseconds. Each is measured every two seconds, which takes 0.02
 * ms.
 */
const MEASURE_EVERY_MS = 200;
const PARTS = 10;
/** Before refusing one more process, all are measured again, unless that happened within this many milliseconds. */
const FRESH_MS = 100;

interface Measurable {
  processes(): { pids: readonly number[] };
}

export class MemoryBudget {
  readonly limitBytes: number | null;
  readonly #serving: ReadonlySet<Measurable>;
  readonly #bytes = new WeakMap<object, number>();
  #timer: NodeJS.Timeout | null = null;
  #next = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  /** `serving`: the live set of processes that serve sandboxes. */
  constructor(limitBytes: number | null, serving: ReadonlySet<Measurable>) {
    this.limitBytes = limitBytes;
    this.#serving = serving;
  }

  /** Bytes of the serving processes at their last measurement. */
  get servingBytes(): number {
    let sum = 0;
    for (const process of this.#serving) sum += Math.max(MIN_PROCESS_BYTES, this.#bytes.get(process) ?? 0);
    return sum;
  }

  /** Bytes of a process at its last measurement; 0 before the first. */
  bytesOf(process: object): number {
    return this.#bytes.get(process) ?? 0;
  }

  /** Whether `more` processes fit beside the serving ones. */
  fits(more: number): boolean {
    if (this.limitBytes === null) return true;
    if (this.servingBytes + more * MIN_PROCESS_BYTES <= this.limitBytes) return true;
    if (performance.now() - this.#measuredAt < FRESH_MS) return false;
    this.#measuredAt = performance.now();
    for (const process of this.#serving) this.#measure(process);
    return this.servingBytes + more * MIN_PROCESS_BYTES <= this.limitBytes;
  }

  /** Starts measuring, and calls `onMeasured` after each round. Idempotent. */
  start(onMeasured: () => void): void {
    this.#timer ??= setInterval(() => {
      this.#measureSome();
      onMeasured();
    }, MEASURE_EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #measureSome(): void {
    let at = 0;
    for (const process of this.#serving) if (at++ % PARTS === this.#next) this.#measure(process);
    this.#next = (this.#next + 1) % PARTS;
  }

  #measure(process: Measurable): void {
    const { pids } = process.processes();
    this.#bytes.set(
      process,
      pids.reduce((sum, pid) => sum + privateBytes(pid), 0),
    );
  }
}
