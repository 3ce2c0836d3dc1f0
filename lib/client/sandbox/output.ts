/** The output of scripts as text: callbacks while it comes, and the whole of it at the end. Safe for the browser. */
import { fromBase64 } from '../base64.ts';

/**
 * Called with each piece of an output as it comes, awaited before the next: `text` for people (what is no UTF-8 is
 * replaced), `bytes` for what they are. When it throws, the script is stopped and the call rejects with that.
 */
export type OnOutput = (text: string, bytes: Uint8Array) => void | Promise<void>;

/** Who is told of output. */
export interface OutputCallbacks {
  onStdout?: OnOutput;
  onStderr?: OnOutput;
}

/** Collects both outputs; a character that is cut between two pieces is put together again. */
export class CollectedOutput {
  readonly #callbacks: OutputCallbacks;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #texts = { stdout: '', stderr: '' };

  constructor(callbacks: OutputCallbacks) {
    this.#callbacks = callbacks;
  }

  async add(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
    const text = this.#decoders[stream].decode(bytes, { stream: true });
    this.#texts[stream] += text;
    await (stream === 'stdout' ? this.#callbacks.onStdout : this.#callbacks.onStderr)?.(text, bytes);
  }

  /** Everything that was added. */
  texts(): { stdout: string; stderr: string } {
    return {
      stdout: this.#texts.stdout + this.#decoders.stdout.decode(),
      stderr: this.#texts.stderr + this.#decoders.stderr.decode(),
    };
  }
}

/** An output of an answer as text, whatever it was sent as. */
export function textOfOutput(output: string, encoding: 'base64' | undefined): string {
  return encoding === undefined ? output : new TextDecoder().decode(fromBase64(output));
}
