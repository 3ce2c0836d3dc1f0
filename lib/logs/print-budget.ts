/**
 * How much of what one sandbox prints is kept: a lot at once, and then so much a second. A guest that prints for ever
 * takes no more of the server than that. Knows nothing of lines' contents.
 */

/** Characters and lines at once, and each second. */
const BURST = { characters: 2 * 1024 * 1024, lines: 20_000 };
const SECOND = { characters: 256 * 1024, lines: 1000 };

export class PrintBudget {
  #characters = BURST.characters;
  #lines = BURST.lines;
  #atMs: number;

  /** `nowMs`: of a steady clock, as in `allowed`. */
  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** The beginning of a text that is kept, and how many lines of it are not. */
  allowed(text: string, nowMs: number): { kept: string; dropped: number } {
    const seconds = Math.max(0, nowMs - this.#atMs) / 1000;
    this.#atMs = nowMs;
    this.#characters = Math.min(BURST.characters, this.#characters + seconds * SECOND.characters);
    this.#lines = Math.min(BURST.lines, this.#lines + seconds * SECOND.lines);
    let end = 0;
    let lines = 0;
    while (end < text.length && end < this.#characters && lines + 1 <= this.#lines) {
      const newline = text.indexOf('\n', end);
      end = newline < 0 ? text.length : newline + 1;
      lines += 1;
    }
    end = Math.min(end, Math.floor(this.#characters));
    this.#characters -= end;
    this.#lines -= lines;
    const rest = text.slice(end);
    return { kept: rest === '' ? text : text.slice(0, end), dropped: linesIn(rest) };
  }
}

/** The lines of a text, the last one too when it has no newline. */
export function linesIn(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
