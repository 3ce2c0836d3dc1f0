/** `csplit`: a text in pieces, at line numbers and at lines that match. */
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';
import { RegexError, translateRegex } from './posix-regex.ts';
import { byteLines } from './text-inputs.ts';

interface Pattern {
  written: string;
  line: number | null;
  expression: RegExp | null;
  isSkipped: boolean;
  offset: number;
  /** How often it is applied again; infinite for `{*}`. */
  repeats: number;
}

export const csplit: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'b:f:kn:qsz',
      long: {
        'suffix-format=': 'b',
        'prefix=': 'f',
        'keep-files': 'k',
        'digits=': 'n',
        quiet: 's',
        silent: 's',
        'elide-empty-files': 'z',
        'suppress-matched': 'suppress',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const [name, ...words] = operands;
    if (name === undefined) call.usage('missing operand');
    if (words.length === 0) call.usage(`missing operand after ${marked(name)}`);
    const patterns = patternsOf(call, words);
    let lines: string[];
    try {
      lines = byteLines(await call.input(name));
    } catch (error) {
      return call.end(`cannot open ${inQuotes(name)} for reading: ${reasonOf(error)}`);
    }
    const digits = Number(value('n') ?? 2);
    const suffix = (number: number) => {
      const format = /^((?:[^%]|%%)*)%0?(\d*)d((?:[^%]|%%)*)$/.exec(value('b') ?? '');
      if (!format && value('b') !== null)
        return call.end(`invalid conversion specifier in suffix: ${marked(value('b') ?? '')}`);
      return format
        ? `${format[1]}${String(number).padStart(Number(format[2]), '0')}${format[3]}`
        : String(number).padStart(digits, '0');
    };
    const pieces: string[][] = [];
    const problem = split(lines, patterns, pieces, has('suppress'));
    const kept = has('z') ? pieces.filter((piece) => piece.length > 0) : pieces;
    if (problem !== null && !has('k')) {
      if (!has('s', 'q')) for (const piece of kept) call.print(`${piece.join('').length}\n`);
      return call.end(problem);
    }
    for (const [number, piece] of kept.entries()) {
      await call.turn();
      const bytes = Buffer.from(piece.join(''), 'latin1');
      await call.changes.writeFile(call.path(`${value('f') ?? 'xx'}${suffix(number)}`), bytes);
      if (!has('s', 'q')) call.print(`${bytes.length}\n`);
    }
    return problem === null ? 0 : call.end(problem);
  },
};

function patternsOf(call: CommandCall, words: readonly string[]): Pattern[] {
  const patterns: Pattern[] = [];
  for (const word of words) {
    const repeat = /^\{(\d+|\*)\}$/.exec(word);
    const last = patterns.at(-1);
    if (repeat && last) {
      last.repeats = repeat[1] === '*' ? Number.POSITIVE_INFINITY : Number(repeat[1]);
      continue;
    }
    const [, mark, text = '', offset] = /^([/%])(.*)\1([+-]?\d+)?$/s.exec(word) ?? [];
    if (mark === undefined && !/^\d+$/.test(word)) call.end(`${marked(word)}: invalid pattern`);
    if (word === '0') call.end('0: line number must be greater than zero');
    patterns.push({
      written: word,
      line: mark === undefined ? Number(word) : null,
      expression: mark === undefined ? null : expressionOf(call, text),
      isSkipped: mark === '%',
      offset: Number(offset ?? 0),
      repeats: 0,
    });
  }
  return patterns;
}

function expressionOf(call: CommandCall, text: string): RegExp {
  const bytes = Buffer.from(text).toString('latin1');
  try {
    return new RegExp(translateRegex(bytes, { syntax: 'basic', unicode: false, lineEnd: '\n' }).source);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return call.end(`${marked(text)}: invalid regular expression: ${error.message}`);
  }
}

/** Puts the pieces into a list; returns what is wrong with a pattern, or null. */
function split(
  lines: readonly string[],
  patterns: readonly Pattern[],
  pieces: string[][],
  suppresses: boolean,
): string | null {
  let at = 0;
  const take = (end: number, isSkipped = false) => {
    if (!isSkipped) pieces.push(lines.slice(at, end));
    at = end;
  };
  for (const pattern of patterns) {
    for (let round = 0; round <= pattern.repeats; round += 1) {
      const on = round === 0 ? '' : ` on repetition ${round}`;
      if (pattern.line !== null) {
        const end = pattern.line * (round + 1) - 1;
        if (end > lines.length) {
          take(lines.length);
          return `${marked(String(pattern.line))}: line number out of range${on}`;
        }
        take(Math.max(at, end));
        if (suppresses) at += 1;
        continue;
      }
      // A line at which a piece begins does not end it.
      const from = at + (pieces.length > 0 || round > 0 ? 1 : 0);
      const found = lines.findIndex(
        (line, index) => index >= from && pattern.expression?.test(line.replace(/\n$/, '')),
      );
      if (found === -1) {
        if (pattern.repeats === Number.POSITIVE_INFINITY) break;
        take(lines.length, pattern.isSkipped);
        return `${marked(pattern.written)}: match not found${on}`;
      }
      const end = found + pattern.offset;
      if (end > lines.length || end < at) return `${marked(pattern.written)}: line number out of range${on}`;
      take(end, pattern.isSkipped);
      if (suppresses) at += 1;
    }
  }
  pieces.push(lines.slice(at));
  return null;
}
