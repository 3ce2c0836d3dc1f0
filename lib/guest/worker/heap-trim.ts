/**
 * Returns memory to the system after calls and writes. V8 collects garbage only when the process allocates, so an idle
 * sandbox would keep a dropped interpreter's memory for good. Knows nothing of calls except when one starts and ends.
 */
import { ownResidentBytes } from '../../base/resident-memory.ts';

/**
 * Delay from the end of a call to the memory check, and the shortest time between two checks, in milliseconds. A check
 * takes 0.04 ms, a collection 25 ms.
 */
const CHECK_DELAY_MS = 1000;
/** Growth that is worth a collection. A process that ran 800 ordinary commands has grown by less. */
const GROWTH_BYTES = 16 * 1024 * 1024;

/** Memory functions of the process; tests pass their own. */
export interface ProcessMemory {
  /** Resident bytes. */
  resident(): number;
  /** Runs a full garbage collection, synchronously. */
  collect(): void;
}

const OWN_MEMORY: ProcessMemory = {
  resident: ownResidentBytes,
  // `last-resort` also frees what only a second pass finds, and returns freed pages to the system.
  collect: () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
};

export class HeapTrim {
  readonly #memory: ProcessMemory;
  /** Resident bytes after the last collection, or fewer if measured since. */
  #baselineBytes: number;
  #running = 0;
  #timer: NodeJS.Timeout | null = null;
  /** A check came due while a call ran. */
  #checkIsDue = false;

  /** Create it before any work has run: the memory resident now is the baseline. */
  constructor(memory: ProcessMemory = OWN_MEMORY) {
    this.#memory = memory;
    this.#baselineBytes = memory.resident();
  }

  /** Runs `work`. Trims the heap some time after it ended and nothing else runs. The result is not delayed. */
  async run(work: () => Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
      this.#workEnded();
    }
  }

  /** Collects everything at once, however little has grown. */
  collectNow(): void {
    this.#memory.collect();
    this.#baselineBytes = this.#memory.resident();
  }

  #workEnded(): void {
    if (this.#checkIsDue && this.#running === 0) {
      this.#checkIsDue = false;
      // Lets the answer leave first.
      setImmediate(() => this.#check());
    } else {
      this.#timer ??= setTimeout(() => this.#timerFired(), CHECK_DELAY_MS).unref();
    }
  }

  #timerFired(): void {
    this.#timer = null;
    if (this.#running === 0) this.#check();
    else this.#checkIsDue = true;
  }

  #check(): void {
    const resident = this.#memory.resident();
    if (resident > this.#baselineBytes + GROWTH_BYTES) {
      this.#memory.collect();
      this.#baselineBytes = this.#memory.resident();
    } else {
      this.#baselineBytes = Math.min(this.#baselineBytes, resident);
    }
  }
}
