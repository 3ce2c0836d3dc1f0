/**
 * The server's side of a parse process: what it may read, and how much time and memory a source may take. Knows nothing
 * of who asks.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WinterdockError } from '../base/errors.ts';
import { HelperProcess } from '../base/helper-process.ts';
import { type ParsedSource, type ParseMessage, type ParseRequest, parseParseMessage } from './messages.ts';

const ENTRY = fileURLToPath(new URL('./parse-worker.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const READABLE = [join(ROOT, 'package.json'), join(ROOT, 'lib'), ...new Set([MODULES, realpathSync(MODULES)])];
/** A source of 2 MiB with 10 000 components takes 5 s of an idle processor. */
const PARSE_TIMEOUT_MS = 20_000;
const MEMORY_BYTES = 384 * 1024 * 1024;
const MEMORY_INTERVAL_MS = 50;
const FLAGS = [
  '--no-warnings',
  '--max-old-space-size=256',
  '--v8-pool-size=1',
  '--permission',
  ...READABLE.map((path) => `--allow-fs-read=${path}`),
];

export class ParseProcess {
  readonly #process: HelperProcess<ParseMessage>;

  private constructor(process: HelperProcess<ParseMessage>) {
    this.#process = process;
  }

  /** Starts one that is ended above `memoryBytes`, and waits until it is ready. Throws `capacity`. */
  static async start(memoryBytes = MEMORY_BYTES): Promise<ParseProcess> {
    const excess = () => tooMuchMemory(memoryBytes);
    return new ParseProcess(
      await HelperProcess.start({
        name: 'parse',
        entry: ENTRY,
        flags: FLAGS,
        env: {},
        walls: null,
        stdout: 'ignore',
        memoryBytes,
        memoryIntervalMs: MEMORY_INTERVAL_MS,
        tooMuchMemory: excess,
        // V8 ends a process that is out of heap by itself; its last words tell.
        explainExit: (stderr) => (stderr.includes('heap out of memory') ? excess() : null),
        parse: parseParseMessage,
      }),
    );
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** Resolves when it is gone. */
  get exited(): Promise<void> {
    return this.#process.exited;
  }

  /** Reads one source. Throws `validation` when it takes too long or too much memory: the process is then gone. */
  async parse(source: string, timeoutMs: number = PARSE_TIMEOUT_MS): Promise<ParsedSource> {
    this.#process.send({ source } satisfies ParseRequest);
    const late = () => tooMuch(`time than it may: ${timeoutMs / 1000} seconds`);
    const message = await this.#process.next((one) => 'parsed' in one, timeoutMs, late);
    if ('parsed' in message) return message.parsed;
    throw new WinterdockError('internal', 'A parse process did not answer.');
  }

  /** Ends it at once. What waits fails with the first reason given. */
  end(reason?: WinterdockError): void {
    this.#process.kill(reason);
  }
}

function tooMuchMemory(bytes: number): WinterdockError {
  return tooMuch(`memory than it may: ${bytes / 1024 / 1024} MiB`);
}

function tooMuch(what: string): WinterdockError {
  return new WinterdockError('validation', `Reading the source takes more ${what}.`, {
    hint: 'Split it into several workbooks, and long texts into files of their own.',
  });
}
