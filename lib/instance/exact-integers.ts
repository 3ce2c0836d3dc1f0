/**
 * Whole numbers of the shell's arithmetic: exact, or an error. Imported by just-bash as it is changed when it is
 * loaded. Pure.
 */

type Failure = new (message: string) => Error;

const BITS = 64;

/** Shifts and masks with 64 bits, as a shell has them; undefined for other operators. */
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

/** The number, when it is exact. Throws a `failure` of the shell's arithmetic for one beyond 2^53. */
export function requireExact(value: number, failure: Failure): number {
  if (Number.isSafeInteger(value) || Number.isNaN(value)) return value;
  throw new failure(`the result is beyond ${Number.MAX_SAFE_INTEGER}, up to which numbers are exact here`);
}
