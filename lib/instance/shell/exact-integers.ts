/**
 * Numbers for the shell: an exact integer or an error, and decimals as C writes them. The patched just-bash imports it.
 * Pure.
 */

type Failure = new (message: string) => Error;

const BITS = 64;

/** Shifts and bit masks on 64-bit integers, as in bash. Undefined for other operators. */
export function bitwise(left: number, right: number, operator: string): number | undefined {
  if (!['<<', '>>', '&', '|', '^'].includes(operator)) return undefined;
  if (!Number.isInteger(left) || !Number.isInteger(right)) return undefined;
  const [a, b] = [BigInt(left), BigInt(right)];
  return Number(BigInt.asIntN(BITS, combined(a, b, operator)));
}

function combined(a: bigint, b: bigint, operator: string): bigint {
  const places = BigInt.asUintN(6, b);
  switch (operator) {
    case '<<':
      return a << places;
    case '>>':
      return a >> places;
    case '&':
      return a & b;
    case '|':
      return a | b;
    default:
      return a ^ b;
  }
}

/** Returns the number if it is exact. Throws a `Failure` for one beyond 2^53. */
export function requireExact(value: number, failure: Failure): number {
  if (Number.isSafeInteger(value) || Number.isNaN(value)) return value;
  throw new failure(`the result is beyond ${Number.MAX_SAFE_INTEGER}, up to which numbers are exact here`);
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
