/** Regular expressions of sed, and what `s` makes of a match. Pure. */
import { translateRegex } from '../posix-regex.ts';

/** A piece of a replacement: text, a group, or a change of case. */
export type Replacement = { text: string } | { group: number } | { letterCase: 'U' | 'L' | 'u' | 'l' | 'E' };

export interface SedRegex {
  /** Searches from its `lastIndex` on. */
  regex: RegExp;
  groups: number;
}

export function sedRegex(
  source: string,
  options: { extended: boolean; ignoreCase: boolean; lines: boolean },
): SedRegex {
  const { source: translated, groups } = translateRegex(withCharacters(source), {
    syntax: options.extended ? 'extended' : 'basic',
    unicode: true,
    lineEnd: options.lines ? '\n' : '',
  });
  return { regex: new RegExp(translated, options.ignoreCase ? 'giu' : 'gu'), groups };
}

const CHARACTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', f: '\f', v: '\v', a: '\x07', r: '\r' };

/** Escapes that stand for a character, as that character. */
function withCharacters(source: string): string {
  return source.replace(/\\(x[0-9a-fA-F]{2}|[\s\S])/g, (whole, one: string) => {
    if (CHARACTERS[one] !== undefined) return CHARACTERS[one] ?? '';
    if (!/^x../.test(one)) return whole;
    const character = String.fromCharCode(Number.parseInt(one.slice(1), 16));
    return /[\\^$.*+?()[\]{}|]/.test(character) ? `\\${character}` : character;
  });
}

export function matchesRegex({ regex }: SedRegex, text: string): boolean {
  regex.lastIndex = 0;
  return regex.test(text);
}

/** The text with its matches from the `first` one on replaced, or only that one. Null: there is no such match. */
export function substitute(
  { regex }: SedRegex,
  text: string,
  replacement: readonly Replacement[],
  first: number,
  all: boolean,
): string | null {
  let result = '';
  let copied = 0;
  let count = 0;
  let lastEnd = -1;
  regex.lastIndex = 0;
  for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
    const end = match.index + match[0].length;
    const isEmpty = match[0] === '';
    if (isEmpty) regex.lastIndex += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    // An empty match right behind another one is none.
    if (isEmpty && match.index === lastEnd) continue;
    lastEnd = end;
    count += 1;
    if (count >= first) {
      result += text.slice(copied, match.index) + replaced(replacement, match);
      copied = end;
      if (!all) break;
    }
    if (regex.lastIndex > text.length) break;
  }
  return count < first ? null : result + text.slice(copied);
}

function replaced(replacement: readonly Replacement[], match: RegExpExecArray): string {
  let text = '';
  let whole: 'U' | 'L' | null = null;
  let next: 'u' | 'l' | null = null;
  for (const part of replacement) {
    if ('letterCase' in part) {
      if (part.letterCase === 'E') whole = null;
      else if (part.letterCase === 'U' || part.letterCase === 'L') whole = part.letterCase;
      else next = part.letterCase;
      continue;
    }
    let piece = 'text' in part ? part.text : (match[part.group] ?? '');
    if (whole !== null) piece = whole === 'U' ? piece.toUpperCase() : piece.toLowerCase();
    if (next !== null && piece !== '') {
      const [head = ''] = piece;
      piece = (next === 'u' ? head.toUpperCase() : head.toLowerCase()) + piece.slice(head.length);
      next = null;
    }
    text += piece;
  }
  return text;
}
