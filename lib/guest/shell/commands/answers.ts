/** Answers to a command's questions, a line of its standard input each. Without one the answer is no. */
import { type CommandCall, textLines } from './own-command.ts';

export class Answers {
  readonly #call: CommandCall;
  #lines: string[] | null = null;

  constructor(call: CommandCall) {
    this.#call = call;
  }

  /** Asks on stderr; true for a line that begins with y. */
  yes(question: string): boolean {
    this.#lines ??= textLines(this.#call.stdin);
    this.#call.warn(question);
    return /^[yY]/.test(this.#lines.shift() ?? '');
  }
}
