/**
 * A process that does one thing at a time for the server, in bounded memory and time: its start, its messages and its
 * end. Knows nothing of what it does.
 */
import { type ChildProcess, fork, type SerializationType } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { WinterdockError } from './errors.ts';
import { privateBytes } from './resident-memory.ts';
import { deserializeError, type SerializedError } from './serialized-error.ts';
import { withoutSignalsUnlessStarted } from './unstarted.ts';

const START_TIMEOUT_MS = 30_000;
const NICENESS = 5;
const STDERR_TAIL = 2000;
/** From util-linux: the kernel ends the process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

export interface HelperOptions<Message> {
  /** What it is called in errors: `A ${name} process …`. */
  name: string;
  entry: string;
  /** Node's flags. */
  flags: readonly string[];
  /** Its whole environment, beside what every helper has. */
  env: Readonly<Record<string, string>>;
  serialization: SerializationType;
  stdout: 'ignore' | 'pipe';
  /** It is ended above this memory, in bytes, files that it maps aside. */
  memoryBytes: number;
  /** Milliseconds between two looks at its memory. */
  memoryIntervalMs: number;
  /** When one of them is aborted, the process is ended with `aborted()`. */
  signals?: readonly AbortSignal[];
  aborted?: () => WinterdockError;
  tooMuchMemory: () => WinterdockError;
  /** Why it ended, by the end of what it wrote to stderr; null when that does not tell. */
  explainExit?: (stderr: string) => WinterdockError | null;
  /** Checks a message of the process. Throws for anything that it may not send. */
  parse: (message: unknown) => Message;
}

type Waiter<Message> = { take: (message: Message) => void; fail: (error: unknown) => void };
type AnyMessage = { ready: true } | { failure: SerializedError } | object;

export class HelperProcess<Message extends AnyMessage> {
  readonly #child: ChildProcess;
  readonly #options: HelperOptions<Message>;
  /** Resolves when it is gone. */
  readonly exited: Promise<void>;
  readonly #memory: NodeJS.Timeout;
  #waiter: Waiter<Message> | null = null;
  #reason: WinterdockError | null = null;
  #stderr = '';

  private constructor(child: ChildProcess, options: HelperOptions<Message>) {
    this.#child = child;
    this.#options = options;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    const { signals = [], memoryBytes, memoryIntervalMs } = options;
    const abort = () => this.kill(options.aborted?.());
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    this.#memory = setInterval(() => {
      if (privateBytes(child.pid) > memoryBytes) this.kill(options.tooMuchMemory());
    }, memoryIntervalMs);
    this.#memory.unref();
    this.exited = new Promise((resolve) => {
      const gone = () => {
        clearInterval(this.#memory);
        for (const signal of signals) signal.removeEventListener('abort', abort);
        this.#settle((waiter) => waiter.fail(this.#exitError()));
        resolve();
      };
      child.once('exit', gone);
      child.on('error', () => (child.pid === undefined ? gone() : child.kill('SIGKILL')));
    });
    child.on('message', (message) => this.#take(message));
    if (signals.some(({ aborted }) => aborted)) abort();
  }

  /**
   * Starts one and waits until it is ready. It gets none of the server's environment. Throws `capacity`, or the reason
   * why it was ended meanwhile.
   */
  static async start<Message extends AnyMessage>(options: HelperOptions<Message>): Promise<HelperProcess<Message>> {
    const guarded = process.platform === 'linux' && existsSync(SETPRIV);
    const child = fork(options.entry, [], {
      serialization: options.serialization,
      stdio: ['ignore', options.stdout, 'pipe', 'ipc'],
      env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1', ...options.env },
      ...(guarded
        ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...options.flags] }
        : { execArgv: [...options.flags] }),
    });
    const started = new HelperProcess(withoutSignalsUnlessStarted(child), options);
    try {
      await started.next(
        (message) => 'ready' in message,
        START_TIMEOUT_MS,
        () => started.#startError(),
      );
    } catch (error) {
      started.kill();
      if (started.#reason !== null) throw started.#reason;
      throw started.#startError(error);
    }
    if (child.pid !== undefined) lower(child.pid);
    return started;
  }

  get isRunning(): boolean {
    return this.#child.connected && this.#reason === null;
  }

  /** Null unless `stdout` is `pipe`. */
  get stdout(): Readable | null {
    return this.#child.stdout;
  }

  send(message: object): void {
    this.#child.send(message);
  }

  /** Lets it end by itself. */
  disconnect(): void {
    this.#child.disconnect();
  }

  /**
   * The next message, which must be the one that is `wanted`. Throws what the process reports, or why it ended. After
   * `timeoutMs` it is ended with `late()`.
   */
  next(wanted: (message: Message) => boolean, timeoutMs: number, late: () => WinterdockError): Promise<Message> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.kill(late()), timeoutMs);
      const done = (finish: () => void) => {
        clearTimeout(timer);
        finish();
      };
      const unexpected = `A ${this.#options.name} process sent an unexpected message.`;
      this.#waiter = {
        take(message) {
          if ('failure' in message) done(() => reject(deserializeError(message.failure as SerializedError)));
          else if (wanted(message)) done(() => resolve(message));
          else done(() => reject(new WinterdockError('internal', unexpected)));
        },
        fail: (error) => done(() => reject(error)),
      };
      if (!this.#child.connected) this.#settle((waiter) => waiter.fail(this.#exitError()));
    });
  }

  /** Sends SIGKILL. What waits fails with the first reason given. Idempotent. */
  kill(reason?: WinterdockError): void {
    this.#reason ??= reason ?? null;
    this.#child.kill('SIGKILL');
  }

  #take(raw: unknown): void {
    try {
      const message = this.#options.parse(raw);
      this.#settle((waiter) => waiter.take(message));
    } catch {
      // An invalid message: the process is ended, and what waits fails.
      this.kill();
    }
  }

  #settle(settle: (waiter: Waiter<Message>) => void): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter) settle(waiter);
  }

  #startError(cause?: unknown): WinterdockError {
    return new WinterdockError('capacity', `A ${this.#options.name} process could not be started.`, {
      retryAfterSeconds: 1,
      cause,
    });
  }

  #exitError(): WinterdockError {
    const why = this.#reason ?? this.#options.explainExit?.(this.#stderr) ?? null;
    if (why !== null) return why;
    return new WinterdockError('internal', `A ${this.#options.name} process ended before it answered.`, {
      cause: new Error(this.#stderr),
    });
  }
}

function lower(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // The process has exited, which is reported elsewhere, or the system denies it: then it runs at normal priority.
  }
}
