/** Integer arithmetic for the shell: an exact result, or an error. The patched just-bash imports it. Pure. */

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
