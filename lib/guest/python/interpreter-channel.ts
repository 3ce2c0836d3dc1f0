/**
 * The channel between a worker and the thread of a running Python: one request at a time in shared memory, for which
 * the thread waits as a program waits for its system. Owns the layout; knows nothing of what is asked.
 */

/** What the thread asks. The numbers that belong to each are in interpreter-files.ts. */
export const OPERATIONS = [
  ...['open', 'close', 'read', 'write', 'truncate', 'statOpen', 'chmodOpen', 'utimeOpen', 'list'],
  ...['stat', 'access', 'mkdir', 'rmdir', 'unlink', 'rename', 'symlink', 'readlink', 'chmod', 'utime', 'resize'],
  ...['folder', 'room', 'print', 'exit'],
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What the thread is started with. */
export interface InterpreterStart {
  memory: SharedArrayBuffer;
  /** Arguments of the interpreter; `program` is where it has the program, if there is one. */
  args: string[];
  program: string | null;
  stdin: Uint8Array;
  cwd: string;
}

/** Most bytes of one request or answer. */
export const DATA_BYTES = 1024 * 1024;
const ASKED = 1;
const ANSWERED = 2;
const STOPPED = 3;
/** Where the numbers are: state, operation, bytes, error; then four doubles; then the data. */
const [STATE, OPERATION, BYTES, ERROR] = [0, 1, 2, 3];
const NUMBERS_AT = 16;
const NUMBERS = 4;
const DATA_AT = NUMBERS_AT + NUMBERS * Float64Array.BYTES_PER_ELEMENT;

export interface SystemAnswer {
  /** An error of WASI; 0 for none. */
  error?: number;
  value?: number;
  data?: Uint8Array;
}

class Memory {
  readonly words: Int32Array;
  readonly numbers: Float64Array;
  readonly data: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory, 0, NUMBERS_AT / Int32Array.BYTES_PER_ELEMENT);
    this.numbers = new Float64Array(memory, NUMBERS_AT, NUMBERS);
    this.data = new Uint8Array(memory, DATA_AT);
  }

  setState(state: number): void {
    Atomics.store(this.words, STATE, state);
    Atomics.notify(this.words, STATE);
  }
}

/** The thread's end, which blocks. */
export class AskingEnd {
  readonly #memory: Memory;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new Memory(memory);
  }

  /** Where the data of the next request, or of the last answer, is. */
  get data(): Uint8Array {
    return this.#memory.data;
  }

  /** Asks with `bytes` bytes of `data`, and waits. The answer's bytes are in `data`. */
  ask(operation: Operation, bytes: number, ...numbers: number[]): { error: number; value: number; bytes: number } {
    const { words } = this.#memory;
    words[OPERATION] = OPERATIONS.indexOf(operation);
    words[BYTES] = bytes;
    this.#memory.numbers.set(numbers);
    this.#memory.setState(ASKED);
    // A wake-up without an answer is none, and a worker that stops the thread ends it.
    for (let state = ASKED; state !== ANSWERED; state = Atomics.load(words, STATE)) Atomics.wait(words, STATE, state);
    return { error: words[ERROR] ?? 0, value: this.#memory.numbers[0] ?? 0, bytes: words[BYTES] ?? 0 };
  }
}

/** The worker's end. */
export class AnsweringEnd {
  readonly shared = new SharedArrayBuffer(DATA_AT + DATA_BYTES);
  readonly #memory = new Memory(this.shared);

  /** Waits for a request. Null once `stop` was called. What `data` holds is the thread's again after the answer. */
  async next(): Promise<{ operation: Operation; data: Uint8Array; numbers: Float64Array } | null> {
    const { words, numbers } = this.#memory;
    for (;;) {
      const state = Atomics.load(words, STATE);
      if (state === STOPPED) return null;
      if (state === ASKED) break;
      await Atomics.waitAsync(words, STATE, state).value;
    }
    const operation = OPERATIONS[words[OPERATION] ?? -1];
    if (operation === undefined) throw new Error('The thread of Python asked what nobody answers.');
    return { operation, data: this.#memory.data.subarray(0, words[BYTES]), numbers: numbers.slice() };
  }

  /** Answers the request. */
  answer({ error = 0, value = 0, data }: SystemAnswer): void {
    const { words, numbers } = this.#memory;
    words[ERROR] = error;
    numbers[0] = value;
    words[BYTES] = data?.byteLength ?? 0;
    if (data) this.#memory.data.set(data);
    // `stop` came meanwhile.
    if (Atomics.compareExchange(words, STATE, ASKED, ANSWERED) === ASKED) Atomics.notify(words, STATE);
  }

  /** Ends `next`. The thread gets no more answers. */
  stop(): void {
    this.#memory.setState(STOPPED);
  }
}
