/**
 * The values of awk: what comes from outside and looks like a number compares as one ("strnum" in POSIX), what the
 * program itself makes of text does not. And what a program writes to files, which is held back as gawk holds it.
 * Called by just-bash's awk as it is patched (awk-value-patches.ts).
 */

/** A text from outside that looks like a number, or, empty, a variable that was never set: text and number in one. */
export class LooseNumber extends String {}

/** A variable that was never set. */
export const UNSET = new LooseNumber('');

export type AwkValue = string | number | LooseNumber;

const NUMERIC = /^[ \t\n]*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[ \t\n]*$/;

/** A text of a field, a line, an option, the environment or `split`. */
export function fromOutside(text: string): string | LooseNumber {
  return NUMERIC.test(text) ? new LooseNumber(text) : text;
}

const INDEX = /^(?:0|-?[1-9]\d{0,14})$/;

/** A key of an array in `for (key in array)`: a whole number counts as one. */
export function fromKey(key: string): string | LooseNumber {
  return INDEX.test(key) ? new LooseNumber(key) : key;
}

/** Whether a value counts as true: a text when it is not empty, also `"0"`. */
export function isTrue(value: AwkValue): boolean {
  if (typeof value === 'number') return value !== 0;
  return value instanceof LooseNumber ? numberOf(value) !== 0 : value !== '';
}

/** `<`, `==` and the others: as numbers where both sides are some, else as texts. */
export function holds(one: AwkValue, other: AwkValue, operator: string, textOf: (value: AwkValue) => string): boolean {
  const isText = typeof one === 'string' || typeof other === 'string';
  const [left, right] = isText ? [textOf(one), textOf(other)] : [numberOf(one), numberOf(other)];
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (operator.startsWith('<')) return left < right || (operator === '<=' && left === right);
  return left > right || (operator === '>=' && left === right);
}

function numberOf(value: AwkValue): number {
  return typeof value === 'number' ? value : Number.parseFloat(String(value)) || 0;
}

/** The engine of regular expressions that the shell has. */
interface Pattern {
  matchAll(text: string): Iterable<{ 0: string; index: number }>;
}

/**
 * `split`: the parts of a text, and what stands between them. A separator of one character is that character, a blank
 * any blanks, an empty one nothing; any other is a regular expression, which `compile` makes.
 */
export function splitParts(
  text: string,
  separator: string,
  isPattern: boolean,
  compile: (pattern: string) => Pattern,
): { parts: string[]; between: string[] } {
  if (text === '') return { parts: [], between: [] };
  if (separator === '') return { parts: [...text], between: Array.from(text, () => '').slice(1) };
  if (separator === ' ' && !isPattern) return cut(text.replace(/^[ \t\n]+|[ \t\n]+$/g, ''), compile('[ \t\n]+'));
  if (separator.length === 1 && !isPattern && separator !== '\\') {
    const parts = text.split(separator);
    return { parts, between: parts.slice(1).map(() => separator) };
  }
  return cut(text, compile(separator));
}

function cut(text: string, pattern: Pattern): { parts: string[]; between: string[] } {
  if (text === '') return { parts: [], between: [] };
  const [parts, between]: string[][] = [[], []];
  let from = 0;
  for (const match of pattern.matchAll(text)) {
    if (match[0] === '') continue;
    parts?.push(text.slice(from, match.index));
    between?.push(match[0]);
    from = match.index + match[0].length;
  }
  parts?.push(text.slice(from));
  return { parts: parts ?? [], between: between ?? [] };
}

/** What has been written to files since they were last read or closed. */
export interface HeldOutput {
  held?: Map<string, string>;
  fs: { appendFile(path: string, text: string): Promise<void> } | undefined;
}

/** How much is held back for one file, in characters: writing more at once costs less. */
const MOST_HELD = 4 * 1024 * 1024;

/** Adds to a file that is open. */
export async function hold(state: HeldOutput, path: string, text: string): Promise<void> {
  state.held ??= new Map();
  const whole = (state.held.get(path) ?? '') + text;
  state.held.set(path, whole);
  if (whole.length >= MOST_HELD) await release(state);
}

/** Writes what is held back: before something else may read it, and at the end. */
export async function release(state: HeldOutput): Promise<void> {
  const held = [...(state.held ?? [])];
  state.held?.clear();
  for (const [path, text] of held) await state.fs?.appendFile(path, text);
}
