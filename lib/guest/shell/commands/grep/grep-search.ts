/** Searches one content for `grep` and prints what the settings ask for. Knows no files. */
import { isAscii } from 'node:buffer';
import { textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import type { GrepForm, GrepMatcher } from './grep-matcher.ts';
import type { GrepSettings } from './grep-settings.ts';

/** Bytes of the start of a file in which a byte that is not text makes it binary. */
const FIRST_BYTES = 98_304;
const STRAY = /[\udc80-\udcff]/;
/** Lines between two looks at the clock. */
const LINES_PER_LOOK = 4096;

export interface GrepSearch {
  name: string;
  showName: boolean;
  matcher: GrepMatcher;
  settings: GrepSettings;
  print(text: string): void;
  /** A sentence for stderr. */
  tell(message: string): void;
  requireTime(): void;
  /** Called when nothing more of the input is needed. */
  /** `lines`: says how many of them it has read. */
  ended(lines: () => number): void;
  /** Whether lines of an earlier content were printed: groups of lines are separated across files. */
  printed: { any: boolean };
}

interface Line {
  start: number;
  end: number;
}

/** Whether the content has a line that matches. */
export function searchContent(content: Buffer, search: GrepSearch): boolean {
  const { settings, matcher } = search;
  const ascii = isAscii(content);
  const text = ascii ? content.toString('latin1') : textOfBytes(content);
  const form = matcher.form(ascii);
  if (!settings.inverted && !matcher.byLine && settings.list !== 'other' && !settings.count) {
    // Most files have no match.
    form.expression.lastIndex = 0;
    if (!form.expression.test(text)) return false;
  }
  const binary = settings.binary !== 'text' && isBinary(content, text, ascii, settings.nullLines);
  if (binary && settings.binary === 'without-match') {
    if (settings.list === 'other') search.print(`${search.name}${settings.nullAfterName ? '\0' : '\n'}`);
    return false;
  }
  return new Searching(text, ascii, form, binary, search).run();
}

function isBinary(content: Buffer, text: string, ascii: boolean, nullLines: boolean): boolean {
  if (!nullLines && content.includes(0)) return true;
  if (nullLines && content.subarray(0, FIRST_BYTES).includes(0x80)) return STRAY.test(text);
  return !ascii && STRAY.test(text.slice(0, FIRST_BYTES)) && !text.slice(0, FIRST_BYTES).isWellFormed();
}

class Searching {
  readonly #text: string;
  readonly #ascii: boolean;
  readonly #form: GrepForm;
  readonly #search: GrepSearch;
  readonly #settings: GrepSettings;
  readonly #end: string;
  #binary: boolean;
  /** Number of the line that starts at `#numberedTo`. */
  #number = 1;
  #numberedTo = 0;
  #bytes = 0;
  #bytesTo = 0;
  /** End of the last printed line; -1 when there is none. */
  #printedTo = -1;
  /** Context lines that are still to be printed after a match. */
  #pending = 0;
  #looked = 0;

  constructor(text: string, ascii: boolean, form: GrepForm, binary: boolean, search: GrepSearch) {
    this.#text = text;
    this.#ascii = ascii;
    this.#form = form;
    this.#binary = binary;
    this.#search = search;
    this.#settings = search.settings;
    this.#end = this.#settings.nullLines ? '\0' : '\n';
  }

  run(): boolean {
    const { quiet, list, count, maxCount } = this.#settings;
    const printing = !quiet && list === null && !count;
    let found = 0;
    let last = 0;
    if (maxCount > 0) {
      for (const line of this.#selected()) {
        found += 1;
        last = line.end + 1;
        if (quiet || list !== null || found >= maxCount) this.#search.ended(() => this.#linesTo(line.end));
        if (quiet || list !== null) break;
        if (printing) {
          if (this.#binary || isStray(this.#text, line, this.#ascii, this.#settings)) {
            this.#search.tell(`${this.#search.name}: binary file matches`);
            return true;
          }
          this.#printMatch(line);
        }
        if (found >= maxCount) break;
      }
    }
    if (printing && found > 0) this.#printAfter(last, this.#text.length);
    if (count && !quiet && list === null) this.#search.print(`${this.#head(':')}${found}\n`);
    const listed = list === 'matching' ? found > 0 : list === 'other' && found === 0;
    if (listed && !quiet) this.#search.print(`${this.#name()}${this.#settings.nullAfterName ? '\0' : '\n'}`);
    return found > 0;
  }

  /** The lines that are asked for, in order. */
  *#selected(): Generator<Line> {
    if (!this.#settings.inverted) return yield* this.#matching();
    let from = 0;
    for (const match of this.#matching()) {
      yield* this.#lines(from, match.start);
      from = match.end + 1;
    }
    yield* this.#lines(from, this.#text.length);
  }

  *#lines(from: number, to: number): Generator<Line> {
    for (let start = from; start < to; ) {
      const end = this.#lineEnd(start);
      yield { start, end };
      start = end + 1;
    }
  }

  #linesTo(end: number): number {
    return this.#text.slice(0, end).split(this.#end).length;
  }

  *#matching(): Generator<Line> {
    const { expression } = this.#form;
    if (this.#search.matcher.byLine) {
      for (const line of this.#lines(0, this.#text.length)) {
        this.#look();
        expression.lastIndex = 0;
        if (expression.test(this.#text.slice(line.start, line.end))) yield line;
      }
      return;
    }
    for (let from = 0; from < this.#text.length; ) {
      this.#look();
      expression.lastIndex = from;
      const match = expression.exec(this.#text);
      if (match === null || match.index >= this.#text.length) {
        if (match === null || this.#text.endsWith(this.#end)) return;
      }
      const start = this.#text.lastIndexOf(this.#end, match.index - 1) + 1;
      const line = { start: match.index === 0 ? 0 : start, end: this.#lineEnd(match.index) };
      yield line;
      from = line.end + 1;
    }
  }

  #lineEnd(from: number): number {
    const end = this.#text.indexOf(this.#end, from);
    return end === -1 ? this.#text.length : end;
  }

  /** Looks at the clock now and then: a content may have millions of lines. */
  #look(): void {
    this.#looked += 1;
    if (this.#looked % LINES_PER_LOOK === 0) this.#search.requireTime();
  }

  #printMatch(line: Line): void {
    const { before, onlyMatches, inverted, separator } = this.#settings;
    this.#printAfter(Math.max(this.#printedTo + 1, 0), line.start);
    let start = line.start;
    const floor = this.#printedTo + 1;
    for (let lines = 0; lines < before && start > floor; lines += 1)
      start = this.#text.lastIndexOf(this.#end, start - 2) + 1;
    start = Math.max(start, floor);
    if (separator !== null && (this.#printedTo === -1 ? this.#search.printed.any : start > floor))
      this.#search.print(`${this.#colored('36', separator)}\n`);
    for (const context of this.#lines(start, line.start)) this.#printLine(context, '-');
    this.#printedTo = line.end;
    this.#search.printed.any = true;
    this.#pending = this.#settings.after;
    if (onlyMatches) {
      if (!inverted) this.#printParts(line);
    } else this.#printLine(line, ':');
  }

  /** Prints the context after the last match, up to `to`. */
  #printAfter(from: number, to: number): void {
    if (this.#printedTo === -1) return;
    for (const line of this.#lines(from, to)) {
      if (this.#pending === 0) return;
      this.#pending -= 1;
      this.#printLine(line, '-');
      this.#printedTo = line.end;
    }
  }

  #printLine(line: Line, mark: ':' | '-'): void {
    if (this.#settings.onlyMatches) return;
    const content = this.#text.slice(line.start, line.end);
    const shown =
      this.#settings.color && (mark === ':') !== this.#settings.inverted ? this.#highlighted(line) : content;
    this.#search.print(`${this.#head(mark, line)}${shown}${this.#end}`);
  }

  #printParts(line: Line): void {
    for (const { start, end } of this.#parts(line)) {
      const part = this.#text.slice(start, end);
      this.#search.print(`${this.#head(':', line, start)}${this.#colored('01;31', part)}${this.#end}`);
    }
  }

  #highlighted(line: Line): string {
    let shown = '';
    let from = line.start;
    for (const { start, end } of this.#parts(line)) {
      shown += this.#text.slice(from, start) + this.#colored('01;31', this.#text.slice(start, end));
      from = end;
    }
    return shown + this.#text.slice(from, line.end);
  }

  /** The matches of a line that are not empty. */
  *#parts(line: Line): Generator<Line> {
    const { expression, alternatives } = this.#form;
    const byLine = this.#search.matcher.byLine;
    const text = byLine ? this.#text.slice(line.start, line.end) : this.#text;
    const shift = byLine ? line.start : 0;
    for (let from = line.start; from < line.end; ) {
      expression.lastIndex = from - shift;
      const match = expression.exec(text);
      if (match === null || match.index + shift >= line.end) return;
      const keptAt = match.indices?.groups?.kept?.[0];
      const start = (keptAt ?? match.index) + shift;
      const end = Math.max(
        match.index + shift + match[0].length,
        this.#longest(alternatives, match.index, text) + shift,
      );
      if (end > start) yield { start, end };
      from = end > from ? Math.max(end, start + 1) : from + 1;
      if (end === start) from = start + 1;
    }
  }

  #longest(alternatives: readonly RegExp[], at: number, text: string): number {
    let end = 0;
    for (const alternative of alternatives) {
      alternative.lastIndex = at;
      if (alternative.test(text)) end = Math.max(end, alternative.lastIndex);
    }
    return end;
  }

  #head(mark: ':' | '-', line?: Line, at = line?.start ?? 0): string {
    const { lineNumbers, byteOffsets, nullAfterName, initialTab } = this.#settings;
    const separator = this.#colored('36', mark);
    let head = '';
    if (this.#search.showName) head += this.#name() + (nullAfterName ? '\0' : separator);
    if (line === undefined) return head;
    const padded = (number: number) => (initialTab ? String(number).padStart(2) : String(number));
    if (lineNumbers) head += this.#colored('32', padded(this.#numberOf(line.start))) + separator;
    if (byteOffsets)
      head += this.#colored('32', initialTab ? padded(this.#bytesOf(at)) : String(this.#bytesOf(at))) + separator;
    return initialTab && head !== '' ? `${head}\t` : head;
  }

  #name(): string {
    return this.#colored('35', this.#search.name);
  }

  #numberOf(at: number): number {
    for (let next = this.#text.indexOf(this.#end, this.#numberedTo); next !== -1 && next < at; ) {
      this.#number += 1;
      this.#numberedTo = next + 1;
      next = this.#text.indexOf(this.#end, this.#numberedTo);
    }
    return this.#number;
  }

  #bytesOf(at: number): number {
    if (this.#ascii) return at;
    this.#bytes += Buffer.byteLength(this.#text.slice(this.#bytesTo, at));
    this.#bytesTo = at;
    return this.#bytes;
  }

  #colored(color: string, text: string): string {
    return this.#settings.color ? `\x1b[${color}m\x1b[K${text}\x1b[m\x1b[K` : text;
  }
}

/** Whether a line holds bytes that are not text, so that it is not printed. */
function isStray(text: string, { start, end }: Line, ascii: boolean, { binary }: GrepSettings): boolean {
  if (ascii || binary === 'text') return false;
  return !text.slice(start, end).isWellFormed();
}
