/**
 * One running call inside a worker: its clock, its abort signal, its output and the commits of what it wrote. Knows
 * nothing of shells, languages or messages.
 */
import type { Overlay } from '../vfs/overlay.ts';
import type { OutputChunk } from './instance.ts';
import { monotonicMs } from './monotonic.ts';
import { Output } from './output.ts';

/** Maximum delay of a long command's output, so that the server has it when the process must be killed. */
const MAX_OUTPUT_DELAY_MS = 200;
/** Commands between two checks of the deadline. */
const COMMANDS_PER_CHECK = 32;

export class Run {
  readonly output = new Output();
  /** The sandbox's files as the call sees them, with its own writes. */
  readonly files: Overlay;
  /** The deadline, in milliseconds of `monotonicMs`. */
  readonly deadline: number;
  readonly #send: (chunks: OutputChunk[]) => void;
  readonly #streaming: boolean;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #sentAt: number;
  #commands = 0;
  #expired = false;
  #failed: unknown = null;

  /** Starts the clock. `send` sends output. */
  constructor(
    files: Overlay,
    options: { timeoutMs: number; streaming: boolean; send: (chunks: OutputChunk[]) => void },
  ) {
    this.files = files;
    this.#send = options.send;
    this.#streaming = options.streaming;
    this.#sentAt = monotonicMs();
    this.deadline = this.#sentAt + options.timeoutMs;
    this.#timer = setTimeout(() => this.#expire(), options.timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** True once the deadline has passed, even if the timer could not fire. */
  get expired(): boolean {
    return this.#expired || monotonicMs() > this.deadline;
  }

  /** Stops the call before its next command. */
  stop(): void {
    this.#stop.abort();
  }

  /** Called before every command of a script. Stops a script that never waits and so lets no timer fire. */
  checkDeadline(): void {
    this.#commands += 1;
    if (this.#commands % COMMANDS_PER_CHECK === 0 && monotonicMs() > this.deadline) this.#expire();
  }

  /**
   * Adds output. It is sent when the command ends, or during a long command, before that command's writes are
   * committed.
   */
  add(stream: OutputChunk['stream'], content: Uint8Array): void {
    this.output.add(stream, content);
    if (monotonicMs() - this.#sentAt > MAX_OUTPUT_DELAY_MS) this.#flush();
  }

  /** Called after each top-level command: commits its writes, then sends its output. */
  commandEnded(): void {
    this.#commit();
    if (this.#streaming || monotonicMs() - this.#sentAt > MAX_OUTPUT_DELAY_MS) this.#flush();
  }

  /** Commits the last writes. Throws the first commit error of the call. */
  finish(): void {
    this.#commit();
    if (this.#failed !== null) throw this.#failed;
  }

  /** Stops the clock and drops uncommitted writes. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.files.discard();
  }

  /** Commits a command's writes. A failure stops the call and is thrown by `finish`; nothing is committed after it. */
  #commit(): void {
    if (this.#failed !== null) return;
    try {
      this.files.commit();
    } catch (error) {
      this.#failed = error;
      this.stop();
    }
  }

  #flush(): void {
    const chunks = this.output.take();
    if (chunks.length === 0) return;
    this.#sentAt = monotonicMs();
    this.#send(chunks);
  }

  #expire(): void {
    this.#expired = true;
    this.stop();
  }
}
