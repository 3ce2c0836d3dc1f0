/**
 * The budget of memory that all processes of sandboxes share: what each counts, and whether one more fits. Looks at a
 * few of them at a time, so that nobody waits for it. Knows nothing of what is done when none fits.
 */
import { privateBytes } from './process-memory.ts';

const MIB = 1024 * 1024;

/**
 * What a process counts at least: what one of its own has when it has run its first calls (22 to 27 MB). One that is
 * starting, one that waits for a sandbox, and any where the system tells nothing of its processes (there is no /proc)
 * counts this.
 */
export const MIN_PROCESS_BYTES = 24 * MIB;

/** How often a tenth of the processes is looked at, in milliseconds: each one every two seconds, for 0.02 ms. */
const LOOK_EVERY_MS = 200;
const PARTS = 10;
/** Before one more is said not to fit all are looked at again, unless they were within this, in milliseconds. */
const FRESH_MS = 100;

/** What the processes take, in bytes. */
export interface MemoryUse {
  /** What all of them may take together; null: as much as they like. */
  limitBytes: number | null;
  /** Those that serve sandboxes, and those that are about to. */
  servingBytes: number;
  /** Those that were started ahead of need; they give way to the others. */
  spareBytes: number;
}

interface Measurable {
  readonly pid: number;
}

export class MemoryBudget {
  readonly limitBytes: number | null;
  readonly #serving: ReadonlySet<Measurable>;
  readonly #bytes = new WeakMap<Measurable, number>();
  #timer: NodeJS.Timeout | null = null;
  #next = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `serving`: the processes that serve sandboxes, as they come and go. */
  constructor(limitBytes: number | null, serving: ReadonlySet<Measurable>) {
    this.limitBytes = limitBytes;
    this.#serving = serving;
  }

  /** Bytes that those which serve count, as they were last looked at. */
  get servingBytes(): number {
    let sum = 0;
    for (const process of this.#serving) sum += Math.max(MIN_PROCESS_BYTES, this.#bytes.get(process) ?? 0);
    return sum;
  }

  /** Whether `more` processes fit beside those that serve. */
  fits(more: number): boolean {
    if (this.limitBytes === null) return true;
    if (this.servingBytes + more * MIN_PROCESS_BYTES <= this.limitBytes) return true;
    if (performance.now() - this.#lookedAt < FRESH_MS) return false;
    this.#lookedAt = performance.now();
    for (const process of this.#serving) this.#look(process);
    return this.servingBytes + more * MIN_PROCESS_BYTES <= this.limitBytes;
  }

  /** Begins to look, and calls `looked` each time. Idempotent. */
  start(looked: () => void): void {
    this.#timer ??= setInterval(() => {
      this.#lookAtSome();
      looked();
    }, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #lookAtSome(): void {
    let at = 0;
    for (const process of this.#serving) if (at++ % PARTS === this.#next) this.#look(process);
    this.#next = (this.#next + 1) % PARTS;
  }

  #look(process: Measurable): void {
    this.#bytes.set(process, privateBytes(process.pid));
  }
}
