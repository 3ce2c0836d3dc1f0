/**
 * What gawk's language has and just-bash's awk lacks: its functions of numbers and times, arrays in arrays, fields by
 * pattern or width, and the long forms of its options. Called as it is patched (patches/awk-language-patches.ts).
 */
import { type AwkValue, LooseNumber } from './awk-values.ts';

/** The engine of regular expressions that the shell has. */
interface Pattern {
  matchAll(text: string): Iterable<{ 0: string; index: number }>;
}

/** Marks an element that is an array; `name` is that of the array. */
export class InnerArray extends String {
  readonly name: string;

  constructor(name: string) {
    super('');
    this.name = name;
  }
}

const MOST_BITS = 2 ** 53;

/** Functions of numbers, each of arguments that have been read. */
export const NUMBER_FUNCTIONS: Readonly<Record<string, (...values: AwkValue[]) => number>> = {
  and: (...values) => bits('and', values, (one, other) => one & other),
  or: (...values) => bits('or', values, (one, other) => one | other),
  xor: (...values) => bits('xor', values, (one, other) => one ^ other),
  compl: (value) => Number(BigInt.asUintN(53, ~wholeOf('compl', value))),
  lshift: (value, by) => Number(BigInt.asUintN(64, wholeOf('lshift', value) << wholeOf('lshift', by))),
  rshift: (value, by) => Number(wholeOf('rshift', value) >> wholeOf('rshift', by)),
  strtonum: (value) => (typeof value === 'number' ? value : numberIn(String(value))),
  mktime: (text) => mktime(String(text)),
};

function bits(name: string, values: AwkValue[], combine: (one: bigint, other: bigint) => bigint): number {
  if (values.length < 2) throw new Error(`fatal: ${name}: called with fewer than two arguments`);
  return Number(values.map((value) => wholeOf(name, value)).reduce(combine));
}

function wholeOf(name: string, value: AwkValue | undefined): bigint {
  const number = typeof value === 'number' ? value : Number.parseFloat(String(value ?? '')) || 0;
  if (number < 0) throw new Error(`fatal: ${name}: negative value is not allowed`);
  return BigInt(Math.trunc(Math.min(number, MOST_BITS)));
}

/** The number at the beginning of a text: `0x…` is hexadecimal, `0…` octal. */
function numberIn(text: string): number {
  const [, sign = '', hex, octal] = /^\s*([-+]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]+)(?![\d.eE]))/.exec(text) ?? [];
  const found = hex === undefined ? octal && Number.parseInt(octal, 8) : Number.parseInt(hex, 16);
  if (typeof found === 'number') return sign === '-' ? -found : found;
  return Number.parseFloat(text) || 0;
}

/** Seconds since the epoch of `YYYY MM DD HH MM SS`, in UTC; -1 for anything else. */
function mktime(text: string): number {
  const words = text.trim().split(/\s+/).map(Number);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = words;
  if (words.length < 6 || words.some((word) => !Number.isInteger(word))) return -1;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** gawk's `typeof` of a value that is no array. */
export function kindOf(value: AwkValue | InnerArray): string {
  if (value instanceof InnerArray) return 'array';
  if (typeof value === 'number') return 'number';
  if (value instanceof LooseNumber) return value.length === 0 ? 'untyped' : 'strnum';
  return 'string';
}

/** The matches of a pattern, and what stands before, between and behind them. */
export function matchesOf(text: string, pattern: Pattern): { found: string[]; between: string[] } {
  const found: string[] = [];
  const between: string[] = [];
  let from = 0;
  for (const match of pattern.matchAll(text)) {
    if (match[0] === '') continue;
    found.push(match[0]);
    between.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return { found, between: [...between, text.slice(from)] };
}

/** The alternatives of a pattern: of those that match at the same place the longest counts, not the first. */
function alternativesOf(pattern: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [part] of pattern.matchAll(/\\.|\[\^?\]?[^\]]*\]|./gs)) {
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (part === '|' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + part);
  }
  return parts;
}

/** The first match, if there is one. */
function* take<M>(matches: Iterable<M>): Iterable<M> {
  for (const match of matches) {
    yield match;
    return;
  }
}

/** The fields of a line by FPAT. An empty match counts unless it stands right behind a field. */
function fieldsOf(line: string, patterns: readonly Pattern[]): string[] {
  const fields: string[] = [];
  let from = 0;
  let isBehind = false;
  while (from <= line.length && line !== '') {
    const rest = line.slice(from);
    const firsts = patterns.flatMap((pattern) => [...take(pattern.matchAll(rest))]);
    const [first] = firsts.toSorted((one, other) => one.index - other.index || other[0].length - one[0].length);
    if (first === undefined) break;
    const isEmpty = first[0] === '';
    if (!(isEmpty && isBehind && first.index === 0)) fields.push(first[0]);
    from += first.index + (isEmpty ? 1 : first[0].length);
    isBehind = !isEmpty;
  }
  return fields;
}

/** What cuts a record in fields, by FPAT or FIELDWIDTHS; null where the value is empty. */
export function cutterOf(
  variable: string,
  value: string,
  compile: (pattern: string) => Pattern,
): ((line: string) => string[]) | null {
  if (value === '') return null;
  if (variable === 'FPAT') {
    const patterns = alternativesOf(value).map(compile);
    return (line) => fieldsOf(line, patterns);
  }
  const widths = value
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [, skip = '0', width = ''] = /^(?:(\d+):)?(\d+|\*)$/.exec(word) ?? [];
      if (width === '') throw new Error(`fatal: invalid FIELDWIDTHS value, for field, near \`${word}'`);
      return { skip: Number(skip), width: width === '*' ? Number.POSITIVE_INFINITY : Number(width) };
    });
  return (line) => {
    const fields: string[] = [];
    let from = 0;
    for (const { skip, width } of widths) {
      from += skip;
      if (from >= line.length) break;
      fields.push(line.slice(from, from + width));
      from += width;
    }
    return fields;
  };
}

/** Whether a `case` with a number or a text is that of a `switch`. */
export function isCase(subject: AwkValue, wanted: AwkValue): boolean {
  if (typeof wanted !== 'number') return String(subject) === String(wanted);
  return typeof subject !== 'string' && (typeof subject === 'number' ? subject : Number(subject)) === wanted;
}

const LONG: Readonly<Record<string, string>> = {
  'field-separator': '-F',
  assign: '-v',
  file: '-f',
  source: '-e',
};
/** Options that change nothing here. */
const WITHOUT_EFFECT = /^(?:-[rPSbOtN]|--(?:re-interval|posix|traditional|characters-as-bytes|optimize|lint(?:=.*)?))$/;

export interface AwkArguments {
  /** `-F`, `-v` and `-f` with their values apart, and what stands behind the options. */
  args: string[];
  /** Each file is written anew with what the program prints (`-i inplace`). */
  isInPlace: boolean;
}

/** The arguments in the forms that just-bash's awk reads. Throws for an option without its value. */
export function plainArguments(given: readonly string[]): AwkArguments {
  const options: string[] = [];
  const sources: string[] = [];
  let isInPlace = false;
  let at = 0;
  const valueFor = (name: string) => {
    const value = given[++at];
    if (value === undefined) throw new Error(`option requires an argument -- '${name}'`);
    return value;
  };
  for (; at < given.length; at++) {
    const word = given[at] ?? '';
    if (word === '--') {
      at++;
      break;
    }
    if (WITHOUT_EFFECT.test(word)) continue;
    const [, long = '', , longValue] = /^--([a-z-]+)(=(.*))?$/s.exec(word) ?? [];
    const [, short = '', rest = ''] = /^-([Fvfei])(.*)$/s.exec(word) ?? [];
    const name = LONG[long] ?? (long === 'include' ? '-i' : short === '' ? '' : `-${short}`);
    if (name === '') {
      if (word.startsWith('-') && word !== '-') options.push(word);
      else break;
      continue;
    }
    const value = long === '' ? rest || valueFor(short) : (longValue ?? valueFor(long));
    if (name === '-e') sources.push(value);
    else if (name === '-i' && value === 'inplace') isInPlace = true;
    else options.push(name, value);
  }
  const program = sources.length === 0 ? [] : [sources.join('\n')];
  return { args: [...options, '--', ...program, ...given.slice(at)], isInPlace };
}
