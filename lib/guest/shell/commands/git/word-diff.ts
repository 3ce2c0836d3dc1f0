/**
 * A hunk with its changed words marked in their lines, as `git diff --word-diff` shows it. Pure: the hunk's lines in,
 * text out, both as bytes (one char each).
 */
import { bytesOfText, textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import { RegexError, translateRegex } from '../posix-regex.ts';
import { fatal, unsupported, usageError } from './git-error.ts';
import { lineChanges } from './line-diff.ts';

export interface WordDiff {
  kind: 'plain' | 'porcelain';
  /** What a word is. */
  word: RegExp;
}

/** How context, old and new words are written, and the end of a line among them. */
const STYLES = {
  plain: { same: ['', ''], old: ['[-', '-]'], fresh: ['{+', '+}'], newline: '\n' },
  porcelain: { same: [' ', '\n'], old: ['-', '\n'], fresh: ['+', '\n'], newline: '~\n' },
} as const;
type Part = 'same' | 'old' | 'fresh';

const BETWEEN_BLANKS = /[^ \t\n\v\f\r]+/gu;

/** How words are shown; null: they are not. `kind` and `pattern`: the options' values, where they were given. */
export function wordDiffOf(kind: string | undefined, pattern: string | undefined): WordDiff | null {
  if (kind === 'color') throw unsupported('colors are');
  if (kind !== undefined && !['', 'none', 'plain', 'porcelain'].includes(kind))
    throw usageError(`bad --word-diff argument: ${kind}`);
  if (kind === 'none' || (kind === undefined && pattern === undefined)) return null;
  const word = pattern === undefined ? BETWEEN_BLANKS : wordOf(pattern);
  return { kind: kind === 'porcelain' ? kind : 'plain', word };
}

function wordOf(pattern: string): RegExp {
  try {
    return new RegExp(translateRegex(pattern, { syntax: 'extended', unicode: true, lineEnd: '\n' }).source, 'gmu');
  } catch (error) {
    if (error instanceof RegexError || error instanceof SyntaxError)
      throw fatal(`invalid regular expression: ${pattern}`);
    throw error;
  }
}

/** `lines`: those of a hunk, each with its first character and its end. */
export function wordHunk(lines: readonly string[], { kind, word }: WordDiff): string {
  let [text, before, after] = ['', '', ''];
  const flush = () => {
    if (before !== '' || after !== '') text += markedWords(before, after, { kind, word });
    [before, after] = ['', ''];
  };
  for (const line of lines) {
    const bare = line.slice(1);
    if (line.startsWith('-')) before += bare;
    else if (line.startsWith('+')) after += bare;
    else {
      flush();
      text += kind === 'porcelain' ? `${line}~\n` : bare;
    }
  }
  flush();
  return text;
}

interface Word {
  from: number;
  to: number;
}

function markedWords(oldBytes: string, newBytes: string, { kind, word }: WordDiff): string {
  const [before, after] = [oldBytes, newBytes].map((bytes) => textOfBytes(Buffer.from(bytes, 'latin1'))) as [
    string,
    string,
  ];
  let text = '';
  const write = (part: Part, written: string) => {
    const [prefix, suffix] = STYLES[kind][part];
    const pieces = written.split('\n');
    for (const [at, piece] of pieces.entries()) {
      if (piece !== '') text += prefix + piece + suffix;
      if (at < pieces.length - 1) text += STYLES[kind].newline;
    }
  };
  if (after === '') write('old', before);
  else {
    const [old, fresh] = [wordsOf(before, word), wordsOf(after, word)];
    const textsOf = (of: string, words: readonly Word[]) => words.map(({ from, to }) => of.slice(from, to));
    let at = 0;
    for (const change of lineChanges(textsOf(before, old), textsOf(after, fresh), false)) {
      const removed = spanOf(old, change.oldStart, change.oldCount);
      const added = spanOf(fresh, change.newStart, change.newCount);
      write('same', after.slice(at, added.from));
      write('old', before.slice(removed.from, removed.to));
      write('fresh', after.slice(added.from, added.to));
      at = added.to;
    }
    write('same', after.slice(at));
  }
  return Buffer.from(bytesOfText(text)).toString('latin1');
}

/** Words in their order. One ends at the end of its line. */
function wordsOf(text: string, word: RegExp): Word[] {
  const words: Word[] = [];
  for (const { 0: found, index } of text.matchAll(word)) {
    const end = found.indexOf('\n');
    const to = index + (end === -1 ? found.length : end);
    if (to > index) words.push({ from: index, to });
  }
  return words;
}

/** What a run of words takes of the text; an empty run stands behind the word in front of it. */
function spanOf(words: readonly Word[], start: number, count: number): Word {
  const end = words[start + count - 1]?.to ?? 0;
  return { from: count === 0 ? end : (words[start]?.from ?? end), to: end };
}
