/**
 * One running call inside an Instance: its clock, its stop, its output and when what it wrote becomes durable. Knows
 * nothing of shells, languages or messages.
 */
import type { Overlay } from '../vfs/overlay.ts';
import type { OutputChunk } from './instance.ts';
import { monotonicMs } from './monotonic.ts';
import { Output } from './output.ts';

/** Output of a long command leaves at least this often, so that the server has it when the process must be ended. */
const SAY_EVERY_MS = 200;
/** Commands between two looks at the clock. */
const COMMANDS_PER_LOOK = 32;

export class Run {
  readonly output = new Output();
  /** What the call sees of the sandbox, with what it wrote itself. */
  readonly files: Overlay;
  /** Milliseconds of `monotonicMs` at which the call is out of time. */
  readonly deadline: number;
  readonly #say: (chunks: OutputChunk[]) => void;
  readonly #streaming: boolean;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #said: number;
  #commands = 0;
  #expired = false;
  #failed: unknown = null;

  /** Begins the clock. `say` sends output. */
  constructor(
    files: Overlay,
    options: { timeoutMs: number; streaming: boolean; say: (chunks: OutputChunk[]) => void },
  ) {
    this.files = files;
    this.#say = options.say;
    this.#streaming = options.streaming;
    this.#said = monotonicMs();
    this.deadline = this.#said + options.timeoutMs;
    this.#timer = setTimeout(() => this.#expire(), options.timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** True once it was out of time, whether or not its timer could fire. */
  get expired(): boolean {
    return this.#expired || monotonicMs() > this.deadline;
  }

  /** Ends it at the next command. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Called before every command of a script: a script that never waits is stopped here, as no timer can fire meanwhile.
   */
  checkDeadline(): void {
    this.#commands += 1;
    if (this.#commands % COMMANDS_PER_LOOK === 0 && monotonicMs() > this.deadline) this.#expire();
  }

  /**
   * Takes output in; it leaves when the command ends, or now and then during a long one, before anything of that one is
   * committed.
   */
  add(stream: OutputChunk['stream'], content: Uint8Array): void {
    this.output.add(stream, content);
    if (monotonicMs() - this.#said > SAY_EVERY_MS) this.#tell();
  }

  /** The end of a top-level command: what it wrote is committed, then what it said is sent. */
  commandEnded(): void {
    this.#settle();
    if (this.#streaming || monotonicMs() - this.#said > SAY_EVERY_MS) this.#tell();
  }

  /** Commits the last of it. Throws what kept any of its commands from becoming durable. */
  finish(): void {
    this.#settle();
    if (this.#failed !== null) throw this.#failed;
  }

  /** Ends the clock, and drops what was not committed. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.files.discard();
  }

  /**
   * Makes what a command wrote durable. A failure stops the call and is thrown at its end; nothing after it is kept.
   */
  #settle(): void {
    if (this.#failed !== null) return;
    try {
      this.files.commit();
    } catch (error) {
      this.#failed = error;
      this.stop();
    }
  }

  #tell(): void {
    const chunks = this.output.take();
    if (chunks.length === 0) return;
    this.#said = monotonicMs();
    this.#say(chunks);
  }

  #expire(): void {
    this.#expired = true;
    this.stop();
  }
}
