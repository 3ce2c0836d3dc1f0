/** How `sort` compares lines: their keys, and each kind of comparison. One character stands for one byte. */

export interface SortRule {
  kind: 'text' | 'number' | 'general' | 'human' | 'month' | 'version' | 'random';
  reverse: boolean;
  skipBlanks: boolean;
  foldCase: boolean;
  dictionary: boolean;
  printable: boolean;
}

/** A place in a line, counted from one; `character` 0 of a stop: the end of its field. */
interface KeyPlace {
  field: number;
  character: number;
}

export interface SortKey {
  rule: SortRule;
  start: KeyPlace | null;
  stop: KeyPlace | null;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const SUFFIXES = ' KMGTPEZY';

export function compareKeys(keys: readonly SortKey[], separator: string | null): (a: string, b: string) => number {
  return (a, b) => {
    for (const key of keys) {
      const order = compareBy(key.rule, keyText(a, key, separator), keyText(b, key, separator));
      if (order !== 0) return key.rule.reverse ? -order : order;
    }
    return 0;
  };
}

/** The part of a line that a key names. */
function keyText(line: string, { rule, start, stop }: SortKey, separator: string | null): string {
  if (start === null) return rule.skipBlanks ? line.replace(/^[ \t]+/, '') : line;
  const fields = fieldsOf(line, separator);
  const from = placeOf(line, fields, start, rule.skipBlanks);
  if (stop === null) return line.slice(from);
  const last = fields[stop.field - 1];
  const to =
    last === undefined ? line.length : stop.character === 0 ? last.end : placeOf(line, fields, stop, false) + 1;
  return line.slice(from, Math.max(from, to));
}

/** Where fields begin and end. Without a separator a field begins with the blanks in front of it. */
function fieldsOf(line: string, separator: string | null): { start: number; end: number }[] {
  if (separator === null)
    return [...line.matchAll(/[ \t]*[^ \t]+|[ \t]+$/g)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
    }));
  let at = 0;
  return line.split(separator).map((field) => {
    const start = at;
    at += field.length + 1;
    return { start, end: start + field.length };
  });
}

function placeOf(line: string, fields: readonly { start: number }[], place: KeyPlace, skipBlanks: boolean): number {
  const field = fields[place.field - 1];
  if (field === undefined) return line.length;
  const blanks = skipBlanks ? (/^[ \t]*/.exec(line.slice(field.start))?.[0].length ?? 0) : 0;
  return Math.min(line.length, field.start + blanks + place.character - 1);
}

function compareBy(rule: SortRule, a: string, b: string): number {
  switch (rule.kind) {
    case 'number':
      return compareNumbers(a, b);
    case 'general':
      return generalValue(a) - generalValue(b) || 0;
    case 'human':
      return compareHuman(a, b);
    case 'month':
      return monthOf(a) - monthOf(b);
    case 'version':
      return compareVersions(a, b);
    case 'random':
      return a === b ? 0 : hashOf(a) - hashOf(b);
    default:
      return compareText(plainText(a, rule), plainText(b, rule));
  }
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function plainText(text: string, { foldCase, dictionary, printable }: SortRule): string {
  const kept = dictionary ? text.replace(/[^A-Za-z0-9 \t]/g, '') : printable ? text.replace(/[^ -~]/g, '') : text;
  return foldCase ? kept.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : kept;
}

/** Decimal numbers of any length. */
function compareNumbers(a: string, b: string): number {
  const [one, other] = [numberText(a), numberText(b)];
  const difference = Number(one) - Number(other);
  if (difference !== 0 || one.length < 16 || other.length < 16) return difference;
  const [left, right] = [BigInt(one.split('.')[0] || '0'), BigInt(other.split('.')[0] || '0')];
  return left < right ? -1 : left > right ? 1 : 0;
}

function numberText(text: string): string {
  const number = /^[ \t]*(-?\d*(?:\.\d*)?)/.exec(text)?.[1] ?? '';
  return /\d/.test(number) ? number : '0';
}

/** Text that is no number comes before every number. */
function generalValue(text: string): number {
  const number = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan))/i.exec(text)?.[1];
  if (number === undefined) return -Number.MAX_VALUE;
  return /inf/i.test(number) ? Number(number.replace(/inf/i, 'Infinity')) : Number(number);
}

function compareHuman(a: string, b: string): number {
  const parse = (text: string) => {
    const [, number = '0', suffix = ' '] = /^[ \t]*(-?\d*(?:\.\d+)?)([KkMGTPEZY]?)/.exec(text) ?? [];
    const value = Number(number) || 0;
    const order = Math.max(0, SUFFIXES.indexOf(suffix === '' ? ' ' : suffix.toUpperCase()));
    return { value, order: value === 0 ? 0 : order * Math.sign(value) };
  };
  const [one, other] = [parse(a), parse(b)];
  return one.order - other.order || one.value - other.value;
}

function monthOf(text: string): number {
  return MONTHS.indexOf(text.trimStart().slice(0, 3).toUpperCase());
}

/** Digits by value, `~` before everything, letters before other characters. */
function compareVersions(a: string, b: string): number {
  const parts = (text: string) => text.match(/\d+|\D/g) ?? [];
  const [one, other] = [parts(a), parts(b)];
  const rank = (part: string | undefined) =>
    part === undefined ? 1 : part === '~' ? 0 : /^\d/.test(part) ? 2 : /^[A-Za-z]/.test(part) ? 3 : 4;
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const [left, right] = [one[at], other[at]];
    const order = rank(left) - rank(right);
    if (order !== 0) return order;
    if (left === undefined || right === undefined) break;
    const difference = rank(left) === 2 ? Number(left) - Number(right) : compareText(left, right);
    if (difference !== 0) return difference;
  }
  return compareText(a, b);
}

function hashOf(text: string): number {
  let hash = 17;
  for (const character of text) hash = (hash * 31 + character.charCodeAt(0)) % 1_000_003;
  return hash;
}
