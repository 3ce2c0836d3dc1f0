/** Decimals of any length, with the scales that POSIX gives the results of `bc`. Pure. */

/** `digits` divided by ten to the power of `scale`. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

/** Digits of the largest result: more would take longer than anybody waits. */
const MAX_DIGITS = 100_000;

/** The same number with this many decimal places; what is behind them is cut off. */
export function scaled({ digits, scale }: Decimal, wanted: number): Decimal {
  const shift = 10n ** BigInt(Math.abs(wanted - scale));
  return { digits: wanted >= scale ? digits * shift : digits / shift, scale: wanted };
}

/** Two numbers with the same number of decimal places. */
export function shared(one: Decimal, other: Decimal): [Decimal, Decimal] {
  const scale = Math.max(one.scale, other.scale);
  return [scaled(one, scale), scaled(other, scale)];
}

export function multiplied(one: Decimal, other: Decimal, scale: number): Decimal {
  const whole = { digits: one.digits * other.digits, scale: one.scale + other.scale };
  return scaled(whole, Math.min(whole.scale, Math.max(scale, one.scale, other.scale)));
}

/** Throws a `RangeError` for a division by zero. */
export function divided(one: Decimal, other: Decimal, scale: number): Decimal {
  if (other.digits === 0n) throw new RangeError('Divide by zero');
  const shift = scale + other.scale - one.scale;
  const digits = shift >= 0 ? one.digits * 10n ** BigInt(shift) : one.digits / 10n ** BigInt(-shift);
  return { digits: digits / other.digits, scale };
}

/** Throws a `RangeError` for a result that would be too long. */
export function powered(base: Decimal, exponent: Decimal, scale: number): Decimal {
  const times = Number(scaled(exponent, 0).digits);
  if (String(base.digits).length * Math.abs(times) > MAX_DIGITS) throw new RangeError('exponent too large in raise');
  const whole = { digits: base.digits ** BigInt(Math.abs(times)), scale: base.scale * Math.abs(times) };
  if (times < 0) return divided({ digits: 1n, scale: 0 }, whole, scale);
  return scaled(whole, Math.min(whole.scale, Math.max(scale, base.scale)));
}

/** Throws a `RangeError` for a negative number. */
export function rootOf(value: Decimal, scale: number): Decimal {
  if (value.digits < 0n) throw new RangeError('Square root of a negative number');
  const { digits } = scaled(value, scale * 2);
  if (digits < 2n) return { digits, scale };
  let root = 10n ** BigInt(Math.ceil(String(digits).length / 2));
  for (;;) {
    const next = (root + digits / root) / 2n;
    if (next >= root) return { digits: root, scale };
    root = next;
  }
}

/** As `bc` prints it: without a zero before the point. */
export function decimalText({ digits, scale }: Decimal): string {
  if (digits === 0n) return '0';
  const text = String(digits < 0n ? -digits : digits).padStart(scale, '0');
  const whole = text.slice(0, text.length - scale);
  return `${digits < 0n ? '-' : ''}${whole}${scale > 0 ? `.${text.slice(text.length - scale)}` : ''}`;
}

/**
 * A number as it is written in a base of 2 to 16, `.` and a fraction included. As in `bc`, a number of one digit is
 * what its digit is, and a digit too high for the base counts as the highest.
 */
export function numberOf(text: string, base: number): Decimal {
  const [whole = '', part = ''] = text.split('.');
  if (base === 10 && !/[A-F]/.test(text)) return { digits: BigInt(`${whole}${part}` || '0'), scale: part.length };
  const highest = text.length === 1 ? 15 : base - 1;
  const wholeOf = (digits: string) =>
    [...digits].reduce((sum, digit) => sum * BigInt(base) + BigInt(Math.min(Number.parseInt(digit, 16), highest)), 0n);
  const fraction = divided(
    { digits: wholeOf(part), scale: 0 },
    { digits: BigInt(base) ** BigInt(part.length), scale: 0 },
    part.length,
  );
  return { digits: wholeOf(whole) * 10n ** BigInt(part.length) + fraction.digits, scale: part.length };
}

/** A number in the digits of a base of 2 to 16: behind the point as many as the decimal places can tell apart. */
export function digitsOf({ digits, scale }: Decimal, base: number): string {
  if (digits === 0n) return '0';
  const one = 10n ** BigInt(scale);
  const size = digits < 0n ? -digits : digits;
  const whole = size / one;
  let fraction = '';
  let rest = size % one;
  for (let told = 1n; String(told).length <= scale; told *= BigInt(base)) {
    rest *= BigInt(base);
    fraction += (rest / one).toString(base);
    rest %= one;
  }
  const text = `${whole === 0n && fraction !== '' ? '' : whole.toString(base)}${fraction === '' ? '' : `.${fraction}`}`;
  return `${digits < 0n ? '-' : ''}${text.toUpperCase()}`;
}
