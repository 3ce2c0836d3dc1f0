/** What a `git` command prints. Text is kept as bytes, because contents of files are. */
import { GitError } from './git-error.ts';

/** Most bytes that one command prints. */
const MAX_BYTES = 64 * 1024 * 1024;

export class GitOutput {
  readonly #out: string[] = [];
  readonly #err: string[] = [];
  #bytes = 0;

  /** Adds text to stdout. */
  text(text: string): void {
    this.bytes(latin1Of(text));
  }

  /** Adds bytes, one char each, to stdout. */
  bytes(bytes: string): void {
    this.#count(bytes.length);
    this.#out.push(bytes);
  }

  /** Adds a line to stdout. */
  line(text = ''): void {
    this.text(`${text}\n`);
  }

  /** Adds a line to stderr. */
  errorLine(text: string): void {
    this.#count(text.length);
    this.#err.push(`${text}\n`);
  }

  /** One char per byte. */
  get stdout(): string {
    return this.#out.join('');
  }

  get stderr(): string {
    return this.#err.join('');
  }

  #count(added: number): void {
    this.#bytes += added;
    if (this.#bytes > MAX_BYTES) throw new GitError(`fatal: more than ${MAX_BYTES} bytes of output`);
  }
}

/** The UTF-8 bytes of a text, one char each. */
export function latin1Of(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}
