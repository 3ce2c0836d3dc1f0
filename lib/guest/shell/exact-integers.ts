/**
 * Numbers for the shell: integers of 64 bits, as in bash, and decimals as C writes them. An integer beyond 2^53 is a
 * BigInt, any other one a number, so that zero is always `0`. The patched just-bash imports it. Pure.
 */

type Failure = new (message: string) => Error;
type Integer = number | bigint;

const BITS = 64;
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_';

/** An integer of 64 bits: what is beyond goes round. */
function wrapped(value: bigint): Integer {
  const inside = BigInt.asIntN(BITS, value);
  const number = Number(inside);
  return Number.isSafeInteger(number) ? number : inside;
}

/** Whether a text is a decimal number and nothing else: without zeros in front, which stand for octal ones. */
export function isPlain(text: string): boolean {
  return /^\s*-?(?:0|[1-9]\d*)\s*$/.test(text);
}

/** The decimal number that a text begins with; 0 for none. */
export function integer(text: string): Integer {
  // So few digits are exact, and this is hot.
  if (text.length < 16) return Number.parseInt(text, 10) || 0;
  const [found] = /^\s*[-+]?\d+/.exec(text) ?? [];
  return found === undefined ? 0 : wrapped(BigInt(found.trim().replace(/^\+/, '')));
}

/** A literal of an expression that is beyond 2^53; undefined for any other, and for one that is not valid. */
export function wideLiteral(text: string): Integer | undefined {
  // The shortest one has 9 digits, of base 64.
  if (text.length < 9) return undefined;
  const [, base = /^0[xX]/.test(text) ? '16' : /^0/.test(text) ? '8' : '10', digits = text.replace(/^0[xX]/, '')] =
    /^(\d+)#(.+)$/.exec(text) ?? [];
  if (Number(base) < 2 || Number(base) > DIGITS.length) return undefined;
  let value = 0n;
  for (const one of digits) {
    const digit = DIGITS.indexOf(Number(base) <= 36 ? one.toLowerCase() : one);
    if (digit < 0 || digit >= Number(base)) return undefined;
    value = value * BigInt(base) + BigInt(digit);
  }
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? wrapped(value) : undefined;
}

/** An operator of two integers. Throws a `Failure` for a division by 0 and for a negative exponent. */
export function binary(left: Integer, right: Integer, operator: string, failure: Failure): Integer {
  if ((operator === '/' || operator === '%') && right === 0) throw new failure('division by 0');
  if (operator === '**' && right < 0) throw new failure('exponent less than 0');
  const quick = typeof left === 'number' && typeof right === 'number' ? ofNumbers(left, right, operator) : undefined;
  if (quick !== undefined && Number.isSafeInteger(quick)) return quick;
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a BigInt that are the same.
  if (operator === '==' || operator === '!=') return (left == right) === (operator === '==') ? 1 : 0;
  const compared = comparison(left, right, operator);
  return compared ?? wrapped(ofBigInts(BigInt(left), BigInt(right), operator));
}

/** An operator of one integer. */
export function unary(value: Integer, operator: string): Integer {
  switch (operator) {
    case '-':
      return typeof value === 'number' ? 0 - value : wrapped(-value);
    case '!':
      return value === 0 ? 1 : 0;
    case '~':
      return typeof value === 'number' ? -value - 1 : wrapped(~value);
    default:
      return value;
  }
}

/** The nearest integer of 64 bits, as `printf` takes a number that is beyond. */
export function bounded(text: string): Integer {
  const sign = text.startsWith('-') ? -1n : 1n;
  const value = sign * BigInt(text.replace(/^[-+]/, ''));
  return wrapped(value > MOST ? MOST : value < LEAST ? LEAST : value);
}

/** The same bits without a sign; of a text, up to 2^64 - 1. */
export function unsigned(text: string, value: Integer): Integer {
  const whole = /^\+?\d+$/.test(text) ? BigInt(text.replace('+', '')) : BigInt(value);
  const most = 2n ** 64n - 1n;
  return whole < 0n ? BigInt.asUintN(BITS, whole) : whole > most ? most : whole;
}

function comparison(left: Integer, right: Integer, operator: string): number | undefined {
  switch (operator) {
    case '<':
      return Number(left < right);
    case '<=':
      return Number(left <= right);
    case '>':
      return Number(left > right);
    case '>=':
      return Number(left >= right);
    default:
      return undefined;
  }
}

function ofNumbers(left: number, right: number, operator: string): number | undefined {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return Math.trunc(left / right) + 0;
    case '%':
      return (left % right) + 0;
    case '**':
      return left ** right;
    case '==':
      return Number(left === right);
    case '!=':
      return Number(left !== right);
    default:
      return comparison(left, right, operator);
  }
}

function ofBigInts(left: bigint, right: bigint, operator: string): bigint {
  const places = BigInt.asUintN(6, right);
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '**':
      return power(left, right);
    case '<<':
      return left << places;
    case '>>':
      return left >> places;
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    default:
      return right;
  }
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = BigInt.asIntN(BITS, result * square);
    square = BigInt.asIntN(BITS, square * square);
  }
  return result;
}

/**
 * A number with so many decimals, as `%.*f`: what lies in the middle goes to the even digit, where `toFixed` goes up.
 */
export function fixed(value: number, decimals: number): string {
  if (Number.isFinite(value) && Math.abs(value) >= 1e21)
    return BigInt(value).toString() + (decimals > 0 ? `.${'0'.repeat(decimals)}` : '');
  const text = value.toFixed(decimals);
  if (!Number.isFinite(value) || decimals > 70) return text;
  const longer = value.toFixed(decimals + 30);
  const cut = longer.length - 30;
  const isMiddle = /^5(?:0{29})$/.test(longer.slice(cut));
  return isMiddle && /[13579]\.?$/.test(text) ? longer.slice(0, cut).replace(/\.$/, '') : text;
}

/** A number with so many digits, as `%.*g`; with `keepsZeros` as `%#.*g`. */
export function general(value: number, digits: number, keepsZeros: boolean): string {
  if (!Number.isFinite(value)) return String(value);
  const precision = Math.min(Math.max(digits, 1), 100);
  const inPowers = value.toExponential(precision - 1);
  const exponent = Number(inPowers.slice(inPowers.indexOf('e') + 1));
  const isWide = exponent < -4 || exponent >= precision;
  const [mantissa = '', power] = (isWide ? inPowers : fixed(value, Math.min(100, precision - 1 - exponent))).split('e');
  const shown = keepsZeros || !mantissa.includes('.') ? mantissa : mantissa.replace(/\.?0+$/, '');
  return power === undefined ? shown : `${shown}e${power.replace(/^([-+])(\d)$/, '$10$2')}`;
}
