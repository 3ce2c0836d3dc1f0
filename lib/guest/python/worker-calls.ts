/** Questions of the interpreter's thread to its worker, with the errors that its system knows. */
import { type AskingEnd, DATA_BYTES, type Operation } from './interpreter-channel.ts';
import { type WasiErrorName, wasiError } from './wasi.ts';

/** Emscripten's class of errors: what it catches. */
export type SystemErrorClass = new (error: number) => Error & { errno: number };

export class WorkerCalls {
  readonly #end: AskingEnd;
  #errors: SystemErrorClass | null = null;

  constructor(end: AskingEnd) {
    this.#end = end;
  }

  begin(errors: SystemErrorClass): void {
    this.#errors = errors;
  }

  /** Where the data of the next question, or of the last answer, is. */
  get data(): Uint8Array {
    return this.#end.data;
  }

  /** Asks with `bytes` bytes of `data`. */
  tryAsk(operation: Operation, bytes: number, ...numbers: number[]): { error: number; value: number; bytes: number } {
    return this.#end.ask(operation, bytes, ...numbers);
  }

  /** The same. Throws what the worker refuses. */
  ask(operation: Operation, bytes: number, ...numbers: number[]): { value: number; bytes: number } {
    const answer = this.tryAsk(operation, bytes, ...numbers);
    if (answer.error !== 0) throw this.error(answer.error);
    return answer;
  }

  /** Asks about a path, or two with a NUL between them. Throws what the worker refuses. */
  askPath(operation: Operation, path: string, ...numbers: number[]): { value: number; bytes: number } {
    const bytes = Buffer.from(path);
    if (bytes.byteLength > DATA_BYTES) throw this.named('ENAMETOOLONG');
    this.data.set(bytes);
    return this.ask(operation, bytes.byteLength, ...numbers);
  }

  /** Numbers of the last answer. */
  doubles(count: number): Float64Array {
    return new Float64Array(this.data.slice(0, count * Float64Array.BYTES_PER_ELEMENT).buffer);
  }

  /** The text of the last answer. */
  text(bytes: number): string {
    return Buffer.from(this.data.subarray(0, bytes)).toString('utf8');
  }

  error(number: number): Error {
    return this.#errors === null ? new Error(`error ${number}`) : new this.#errors(number);
  }

  named(name: WasiErrorName): Error {
    return this.error(wasiError(name));
  }
}
