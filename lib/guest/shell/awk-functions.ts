/** Functions of awk as gawk answers them. Called as it is patched (patches/awk-function-patches.ts). */
import { Stopped } from './awk-text.ts';
import { refuses } from './declared-uses.ts';

/** What a run of awk keeps of its random numbers. */
interface Seeded {
  seed?: number;
  /** The state of the generator, 32 bits. */
  state?: number;
}

/** The seed of a program that sets none, as gawk has it. */
const FIRST_SEED = 1;

/** Each letter by the one letter that it becomes; one that becomes several stays. */
export function upper(text: string): string {
  return letterByLetter(text, (letter) => letter.toUpperCase());
}

/** İ, the one capital that becomes two, becomes i. */
export function lower(text: string): string {
  return letterByLetter(text, (letter) => (letter === 'İ' ? 'i' : letter.toLowerCase()));
}

function letterByLetter(text: string, change: (letter: string) => string): string {
  const whole = change(text);
  // Only letters that become several change the length.
  if (whole.length === text.length) return whole;
  return Array.from(text, (letter) => {
    const changed = change(letter);
    return Array.from(changed).length === 1 ? changed : letter;
  }).join('');
}

/**
 * From 0 to below 1: after the same seed the same numbers, which are not gawk's. Throws `Stopped` for a component that
 * does not declare random numbers.
 */
export function random(run: Seeded): number {
  if (refuses('random')) throw new Stopped('stopped');
  run.state ??= run.seed ?? FIRST_SEED;
  return (next(run) * 2 ** 21 + (next(run) >>> 11)) / 2 ** 53;
}

/** Sets the seed and returns the one before. */
export function seed(run: Seeded, value: number): number {
  const before = run.seed ?? FIRST_SEED;
  run.seed = value;
  run.state = Math.trunc(value) >>> 0;
  return before;
}

/** The generator mulberry32: 32 bits, from a state of 32 bits. */
function next(run: Seeded): number {
  run.state = ((run.state ?? 0) + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(run.state ^ (run.state >>> 15), run.state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
