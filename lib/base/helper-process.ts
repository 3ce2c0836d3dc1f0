/**
 * A process that does one thing at a time for the server, in bounded memory and time: its start, its messages and its
 * end. Knows nothing of what it does.
 */
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { STORAGE_HINT, WinterdockError } from './errors.ts';
import { compiledOnce } from './helper-cache.ts';
import { type StartedHelper, startHelper } from './helper-start.ts';
import { privateBytes } from './resident-memory.ts';
import { deserializeError, type SerializedError } from './serialized-error.ts';
import type { HelperWalls } from './walls.ts';

const START_TIMEOUT_MS = 30_000;
const NICENESS = 5;
const STDERR_TAIL = 2000;

export interface HelperOptions<Message> {
  /** What it is called in errors: `A ${name} process …`. */
  name: string;
  entry: string;
  /** Node's flags. */
  flags: readonly string[];
  /** Its whole environment, beside what every helper has. */
  env: Readonly<Record<string, string>>;
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
  /** What stands around it beside its flags. */
  walls: HelperWalls | null;
  /** Checks a message of the process. Throws for anything that it may not send. */
  parse: (message: unknown) => Message;
  /** Takes a message that answers nothing, such as how far a task is; false when it is an answer. */
  notice?: (message: Message) => boolean;
}

type Waiter<Message> = { take: (message: Message) => void; fail: (error: unknown) => void };
type AnyMessage = { ready: true } | { failure: SerializedError } | object;

export class HelperProcess<Message extends AnyMessage> {
  readonly #child: StartedHelper['child'];
  readonly #channel: StartedHelper['channel'];
  readonly #id: StartedHelper['id'];
  readonly #options: HelperOptions<Message>;
  /** Resolves when it is gone. */
  readonly exited: Promise<void>;
  readonly #memory: NodeJS.Timeout;
  #waiter: Waiter<Message> | null = null;
  /** What came since the last task before anybody waited for it: two messages can come in one piece. */
  #early: Message | null = null;
  #reason: WinterdockError | null = null;
  #stderr = '';
  /** How it ended. */
  #how: string | null = null;

  private constructor({ child, channel, id, exited }: StartedHelper, options: HelperOptions<Message>) {
    this.#child = child;
    this.#channel = channel;
    this.#id = id;
    this.#options = options;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    const { signals = [], memoryBytes, memoryIntervalMs } = options;
    const abort = () => this.kill(options.aborted?.());
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    this.#memory = setInterval(() => {
      if (privateBytes(id.pid) > memoryBytes) this.kill(options.tooMuchMemory());
    }, memoryIntervalMs);
    this.#memory.unref();
    this.exited = exited.then((how) => {
      clearInterval(this.#memory);
      for (const signal of signals) signal.removeEventListener('abort', abort);
      this.#how = how;
      this.#settle((waiter) => waiter.fail(this.#exitError()));
    });
    channel.onMessage((message) => this.#take(message));
    if (signals.some(({ aborted }) => aborted)) abort();
  }

  /**
   * Starts one and waits until it is ready. It gets none of the server's environment. Throws `capacity`, or the reason
   * why it was ended meanwhile.
   */
  static async start<Message extends AnyMessage>(options: HelperOptions<Message>): Promise<HelperProcess<Message>> {
    const { entry, flags, env, stdout, walls } = options;
    const start = { entry, flags, env, stdout, walls, mostBytes: 0 };
    await compiledOnce(start);
    const helper = startHelper(start);
    const started = new HelperProcess(helper, options);
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
    void helper.id.known.then(lower);
    return started;
  }

  get pid(): number {
    return this.#id.pid;
  }

  get isRunning(): boolean {
    return this.#channel.isOpen && this.#reason === null;
  }

  /** Null unless `stdout` is `pipe`. */
  get stdout(): Readable | null {
    return this.#child.stdout;
  }

  /** Gives it a task. What it said before is no answer to that. */
  send(message: object): void {
    this.#early = null;
    this.#channel.send(message);
  }

  /** Lets it end by itself. */
  disconnect(): void {
    this.#channel.close();
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
      const early = this.#early;
      this.#early = null;
      if (early !== null) this.#settle((waiter) => waiter.take(early));
      else if (!this.#channel.isOpen) this.#settle((waiter) => waiter.fail(this.#exitError()));
    });
  }

  /** Sends SIGKILL. What waits fails with the first reason given. Idempotent. */
  kill(reason?: WinterdockError): void {
    this.#reason ??= reason ?? null;
    this.#id.signal('SIGKILL');
  }

  #take(raw: unknown): void {
    try {
      const message = this.#options.parse(raw);
      if (this.#options.notice?.(message)) return;
      if (this.#waiter !== null) this.#settle((waiter) => waiter.take(message));
      else if (this.#early === null) this.#early = message;
      else this.kill();
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
    // The disk failed below a file that the process had mapped.
    if (this.#how === 'SIGBUS') {
      const says = `The disk could not read or write the files of a ${this.#options.name}.`;
      return new WinterdockError('storage_unavailable', says, { hint: STORAGE_HINT, retryAfterSeconds: 5 });
    }
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
