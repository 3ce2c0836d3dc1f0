/**
 * Makes lines of what one call prints, piece by piece: without escapes of terminals and control characters, with the
 * values of secrets masked, each of a bounded length. Pure; knows nothing of files.
 */
import type { LogLevel, LogStream } from './log-line.ts';

/** Characters of a line; a longer one becomes several. */
const LINE_LENGTH = 8 * 1024;
/** Characters without a newline that are waited with. */
const HELD_LENGTH = 64 * 1024;

/** Masks the values of secrets in a text. */
export interface SecretMask {
  /** The characters of the longest value that it masks. */
  readonly longest: number;
  mask(text: string): string;
}

/** A mask of these values, the longer ones first: one may be a part of another. */
export function maskOf(values: readonly string[]): SecretMask {
  const longest = values.reduce((most, { length }) => Math.max(most, length), 0);
  return {
    longest,
    mask(text) {
      let masked = text;
      for (const value of values) masked = masked.replaceAll(value, '*'.repeat(value.length));
      return masked;
    },
  };
}

/** CSI, OSC and other escapes of terminals, whole or cut off at the end. */
const ESCAPES =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)|\x9b[0-?]*[ -/]*[@-~]?/g;
/** Control characters but the tab, and characters that turn or hide text. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const ENDS = /\r\n|\n|\r/;

function plain(text: string): string {
  return text.toWellFormed().replace(ESCAPES, '').replace(CONTROLS, '');
}

/** The lines of one stream of one call. */
export class PrintedText {
  #held = '';

  /** Takes a piece; returns the lines that it completes, empty ones left out. */
  take(piece: string, mask: SecretMask): string[] {
    const parts = piece.split(ENDS);
    // Only the new piece is looked through. A newline that was cut in two gives an empty line, which is left out.
    parts[0] = this.#held + (parts[0] ?? '');
    this.#held = parts.pop() ?? '';
    const lines = parts.flatMap((part) => pieces(mask.mask(plain(part))));
    if (this.#held.length > HELD_LENGTH) {
      const masked = mask.mask(plain(this.#held));
      // The end may have the beginning of a value.
      const cut = Math.max(0, masked.length - mask.longest);
      lines.push(...pieces(masked.slice(0, cut)));
      this.#held = masked.slice(cut);
    }
    return lines;
  }

  /** The call has ended: what is left without a newline. */
  end(mask: SecretMask): string[] {
    const rest = this.#held;
    this.#held = '';
    return pieces(mask.mask(plain(rest)));
  }
}

function pieces(line: string): string[] {
  if (line.trim() === '') return [];
  const found: string[] = [];
  for (let at = 0; at < line.length; at += LINE_LENGTH) found.push(line.slice(at, at + LINE_LENGTH).toWellFormed());
  return found;
}

/** Where words of levels are looked for: the beginning. */
const BEGINNING = 120;
const WORDS: readonly (readonly [LogLevel, RegExp])[] = [
  [
    'error',
    /\b(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|[Ee]rror:|[Ff]atal:|panic:)|^Traceback |"level":\s*"(?:error|fatal)"|\blevel=(?:error|fatal)\b/,
  ],
  ['warn', /\b(?:WARN(?:ING)?\b|[Ww]arning:)|"level":\s*"warn(?:ing)?"|\blevel=warn/],
  ['debug', /\b(?:DEBUG|TRACE)\b|"level":\s*"(?:debug|trace)"|\blevel=(?:debug|trace)\b/],
  ['info', /\b(?:INFO|NOTICE)\b|"level":\s*"info"|\blevel=info\b/],
];

/** The level that a line itself names at its beginning; else `warn` of stderr, and `info` of the others. */
export function levelOf(stream: LogStream, text: string): LogLevel {
  const beginning = text.slice(0, BEGINNING);
  for (const [level, words] of WORDS) if (words.test(beginning)) return level;
  return stream === 'stderr' ? 'warn' : 'info';
}
