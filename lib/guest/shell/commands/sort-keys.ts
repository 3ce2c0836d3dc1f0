/**
 * How `sort` compares lines: their keys, and each kind of comparison. A line's keys are found and read once, before
 * lines are compared. One character stands for one byte.
 */

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
  stop: (KeyPlace & { skipBlanks: boolean }) | null;
}

/** A line, and what its keys are compared by. */
export interface SortRow {
  line: string;
  keys: readonly unknown[];
}

interface Order<Value> {
  read(text: string): Value;
  compare(one: Value, other: Value): number;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const SUFFIXES = ' KMGTPEZY';
/** A decimal number of no more characters is exact enough as a double to be ordered. */
const EXACT_LENGTH = 15;

/** Makes rows of lines, and compares rows. */
export function rowOrder(
  keys: readonly SortKey[],
  separator: string | null,
): { rowOf(line: string): SortRow; compare(a: SortRow, b: SortRow): number } {
  const orders = keys.map(({ rule }) => orderOf(rule));
  return {
    rowOf: (line) => ({ line, keys: keys.map((key, at) => orders[at]?.read(keyText(line, key, separator))) }),
    compare(a, b) {
      for (let at = 0; at < orders.length; at += 1) {
        const order = orders[at]?.compare(a.keys[at], b.keys[at]) ?? 0;
        if (order !== 0) return keys[at]?.rule.reverse ? -order : order;
      }
      return 0;
    },
  };
}

/** The part of a line that a key names. */
function keyText(line: string, { rule, start, stop }: SortKey, separator: string | null): string {
  if (start === null) return rule.skipBlanks ? line.slice(afterBlanks(line, 0)) : line;
  const field = startOf(line, start.field, separator);
  const from = Math.min(line.length, (rule.skipBlanks ? afterBlanks(line, field) : field) + start.character - 1);
  if (stop === null) return line.slice(from);
  const to = stop.character === 0 ? endOf(line, stop.field, separator) : endAt(line, stop, separator);
  return line.slice(from, Math.max(from, to));
}

function endAt(line: string, stop: KeyPlace & { skipBlanks: boolean }, separator: string | null): number {
  const field = startOf(line, stop.field, separator);
  return Math.min(line.length, (stop.skipBlanks ? afterBlanks(line, field) : field) + stop.character);
}

const isBlank = (line: string, at: number) => {
  const code = line.charCodeAt(at);
  return code === 32 || code === 9 || code === 10;
};

function afterBlanks(line: string, from: number): number {
  let at = from;
  while (isBlank(line, at)) at += 1;
  return at;
}

/** Where a field begins: without a separator, with the blanks in front of it. */
function startOf(line: string, field: number, separator: string | null): number {
  let at = 0;
  for (let left = field - 1; left > 0 && at < line.length; left -= 1) {
    at = endFrom(line, at, separator);
    if (separator !== null && at < line.length) at += 1;
  }
  return at;
}

function endOf(line: string, field: number, separator: string | null): number {
  return endFrom(line, startOf(line, field, separator), separator);
}

function endFrom(line: string, start: number, separator: string | null): number {
  if (separator !== null) {
    const end = line.indexOf(separator, start);
    return end === -1 ? line.length : end;
  }
  let at = afterBlanks(line, start);
  while (at < line.length && !isBlank(line, at)) at += 1;
  return at;
}

/** The order of a kind. What it reads is what it compares. */
function orderOf(rule: SortRule): Order<unknown> {
  const made = <Value>(order: Order<Value>) => order as Order<unknown>;
  switch (rule.kind) {
    case 'number':
      return made({ read: numeralOf, compare: compareNumerals });
    case 'general':
      return made({ read: generalValue, compare: compareGeneral });
    case 'human':
      return made({ read: humanValue, compare: (a, b) => a.order - b.order || a.value - b.value });
    case 'month':
      return made({ read: monthOf, compare: (a, b) => a - b });
    case 'version':
      return made({ read: versionOf, compare: compareVersions });
    case 'random':
      return made({
        read: (text) => ({ text, hash: hashOf(text) }),
        compare: (a, b) => (a.text === b.text ? 0 : a.hash - b.hash),
      });
    default:
      return made({ read: (text) => plainText(text, rule), compare: compareText });
  }
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function plainText(text: string, { foldCase, dictionary, printable }: SortRule): string {
  const kept = dictionary ? text.replace(/[^A-Za-z0-9 \t]/g, '') : printable ? text.replace(/[^ -~]/g, '') : text;
  return foldCase ? kept.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : kept;
}

/** A decimal number of any length. */
interface Numeral {
  value: number;
  text: string;
}

function numeralOf(text: string): Numeral {
  const number = /^[ \t\n]*(-?\d*(?:\.\d*)?)/.exec(text)?.[1] ?? '';
  const digits = /\d/.test(number) ? number : '0';
  return { value: Number(digits), text: digits };
}

function compareNumerals(a: Numeral, b: Numeral): number {
  if (a.text.length <= EXACT_LENGTH && b.text.length <= EXACT_LENGTH) return a.value - b.value;
  const signs = Math.sign(a.value) - Math.sign(b.value);
  return signs === 0 ? compareMagnitudes(a.text, b.text) * (a.value < 0 ? -1 : 1) : signs;
}

function compareMagnitudes(a: string, b: string): number {
  const parts = (text: string) => {
    const [whole = '', rest = ''] = text.replace('-', '').split('.');
    return { whole: whole.replace(/^0+/, ''), rest: rest.replace(/0+$/, '') };
  };
  const [one, other] = [parts(a), parts(b)];
  return (
    one.whole.length - other.whole.length || compareText(one.whole, other.whole) || compareText(one.rest, other.rest)
  );
}

/** What begins with a number as strtod(3) reads it, hexadecimal ones too; null: with none. */
function generalValue(text: string): number | null {
  const hex = /^\s*([-+]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([-+]?\d+))?/i.exec(text);
  if (hex !== null && `${hex[2]}${hex[3] ?? ''}` !== '') {
    const [, sign, whole = '', rest = '', power = '0'] = hex;
    const digits = Number.parseInt(`${whole}${rest}`, 16) * 2 ** (Number(power) - 4 * rest.length);
    return sign === '-' ? -digits : digits;
  }
  const number = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan))/i.exec(text)?.[1];
  if (number === undefined) return null;
  if (/nan/i.test(number)) return Number.NaN;
  return /inf/i.test(number) ? Number(number.replace(/inf/i, 'Infinity')) : Number(number);
}

/** Text that is no number comes before every number, and NaN between. */
function compareGeneral(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
  return a - b || 0;
}

function humanValue(text: string): { value: number; order: number } {
  const [, number = '0', suffix = ' '] = /^[ \t]*(-?\d*(?:\.\d+)?)([KkMGTPEZY]?)/.exec(text) ?? [];
  const value = Number(number) || 0;
  const order = Math.max(0, SUFFIXES.indexOf(suffix === '' ? ' ' : suffix.toUpperCase()));
  return { value, order: value === 0 ? 0 : order * Math.sign(value) };
}

function monthOf(text: string): number {
  return MONTHS.indexOf(text.trimStart().slice(0, 3).toUpperCase());
}

interface Version {
  text: string;
  parts: readonly string[];
}

function versionOf(text: string): Version {
  return { text, parts: text.match(/\d+|\D/g) ?? [] };
}

/** Digits by value, `~` before everything, letters before other characters. */
function compareVersions({ text: a, parts: one }: Version, { text: b, parts: other }: Version): number {
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
