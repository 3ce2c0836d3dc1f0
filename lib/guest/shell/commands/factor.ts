/** `factor`: the prime factors of whole numbers. */
import { marked, type OwnCommand } from './own-command.ts';

/** Factors below this are found by division, the others by Pollard's rho. */
const DIVIDED = 1n << 16n;
/** More digits could take longer than anybody waits. */
const MOST_DIGITS = 30;
const WITNESSES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n];

export const factor: OwnCommand = {
  async main(call) {
    const { operands } = call.options({ letters: '' });
    const words = operands.length > 0 ? operands : call.stdin.toString('latin1').split(/\s+/).filter(Boolean);
    for (const word of words) {
      const digits = word.replace(/^\+/, '');
      if (!/^\d+$/.test(digits)) call.fail(`${marked(word)} is not a valid positive integer`);
      else if (digits.length > MOST_DIGITS) call.fail(`${marked(word)} is too large: ${MOST_DIGITS} digits at most`);
      else {
        const number = BigInt(digits);
        const factors = await factorsOf(number, () => call.turn());
        call.print(`${number}:${factors.map((each) => ` ${each}`).join('')}\n`);
      }
    }
    return undefined;
  },
};

async function factorsOf(number: bigint, turn: () => Promise<void>): Promise<bigint[]> {
  const factors: bigint[] = [];
  let rest = number;
  for (let divisor = 2n; divisor < DIVIDED && divisor * divisor <= rest; divisor += divisor === 2n ? 1n : 2n)
    while (rest % divisor === 0n) {
      factors.push(divisor);
      rest /= divisor;
    }
  const open = rest > 1n ? [rest] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isPrime(next)) factors.push(next);
    else {
      const divisor = await divisorOf(next, turn);
      open.push(divisor, next / divisor);
    }
  }
  return factors.sort((a, b) => (a < b ? -1 : 1));
}

/** Miller and Rabin's test, exact below 3.3e24 and with an error that nobody has found above. */
function isPrime(number: bigint): boolean {
  if (number < DIVIDED * DIVIDED) return true;
  let [odd, twos] = [number - 1n, 0];
  while (odd % 2n === 0n) {
    odd /= 2n;
    twos += 1;
  }
  return WITNESSES.every((witness) => {
    let value = power(witness, odd, number);
    if (value === 1n || value === number - 1n) return true;
    for (let at = 1; at < twos; at += 1) {
      value = (value * value) % number;
      if (value === number - 1n) return true;
    }
    return false;
  });
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Pollard's rho: a divisor of a number that is no prime. */
async function divisorOf(number: bigint, turn: () => Promise<void>): Promise<bigint> {
  for (let step = 1n; ; step += 1n) {
    const next = (value: bigint) => (value * value + step) % number;
    let [slow, fast, common] = [2n, 2n, 1n];
    for (let round = 0; common === 1n; round += 1) {
      if (round % 256 === 0) await turn();
      slow = next(slow);
      fast = next(next(fast));
      common = gcd(slow > fast ? slow - fast : fast - slow, number);
    }
    if (common !== number) return common;
  }
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
