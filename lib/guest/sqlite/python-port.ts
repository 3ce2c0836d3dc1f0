/**
 * The file through which Python's `sqlite3` module asks: what is written is a request, what is read next is its answer.
 * Read before anything was written, it is the module's source. One for each run of Python; `close` writes back what its
 * connections committed.
 */
import type { IFileSystem } from 'just-bash';
import type { Run } from '../../workers/protocol/call.ts';
import { SQLITE_MODULE } from './python-module.ts';
import { giveBack, type SqliteThread, takeThread } from './sqlite-host.ts';

const LENGTH_BYTES = 4;

export class PythonPort {
  readonly #fs: IFileSystem;
  readonly #run: Run;
  readonly #memoryBytes: number;
  #thread: SqliteThread | null = null;
  #answer: string | null = null;

  constructor(fs: IFileSystem, run: Run, memoryBytes: number) {
    this.#fs = fs;
    this.#run = run;
    this.#memoryBytes = memoryBytes;
  }

  async write(content: Uint8Array): Promise<void> {
    if (content.byteLength < LENGTH_BYTES) return;
    const bytes = Buffer.from(content);
    const request = bytes.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + bytes.readUInt32BE(0));
    this.#answer = await this.#ask(request);
  }

  read(): Uint8Array {
    const answer = this.#answer ?? SQLITE_MODULE;
    this.#answer = null;
    return Buffer.from(answer);
  }

  /** Closes every connection. Returns why what they committed could not be written; null when it was. */
  async close(): Promise<string | null> {
    const thread = this.#thread;
    if (thread === null) return null;
    const { error = null } = JSON.parse(await this.#ask('{"op":"end"}')) as { error?: string };
    if (this.#thread !== null) giveBack(thread);
    this.#thread = null;
    return error;
  }

  async #ask(request: string): Promise<string> {
    this.#thread ??= takeThread(this.#memoryBytes);
    const { text, ended } = await this.#thread.call({
      request: { kind: 'python', request },
      fs: this.#fs,
      run: this.#run,
      onOutput() {},
    });
    if (ended === null) return text;
    // Its connections are gone with it.
    this.#thread = null;
    const why = ended === 'memory' ? 'out of memory' : ended === 'crash' ? text : 'interrupted';
    return JSON.stringify({ error: why, kind: 'OperationalError' });
  }
}
