/**
 * Turns of the contenders of one run: round robin of short slices, so that a noisy machine is noisy for all of them.
 */
import type { Slices } from './statistics.ts';

/**
 * Gives each contender `rounds` turns after one that warms it up and is not kept. Each round starts with another
 * contender, so that none always follows the same one. A turn returns its samples.
 */
export async function roundRobin<K extends string>(
  rounds: number,
  contenders: Record<K, (round: number) => Promise<number[]>>,
): Promise<Record<K, Slices>> {
  const names = Object.keys(contenders) as K[];
  const slices = Object.fromEntries(names.map((name) => [name, [] as number[][]])) as Record<K, number[][]>;
  for (let round = -1; round < rounds; round += 1) {
    const first = Math.max(0, round) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const samples = await contenders[name](round);
      if (round >= 0) slices[name].push(samples);
    }
  }
  return slices;
}

/** A turn of one call, timed by itself. */
export const once =
  (measure: () => Promise<number>): (() => Promise<number[]>) =>
  async () => [await measure()];
