/**
 * A minute of a random life, another one every day: `npm run soak` lives longer ones, and the same one again by its
 * seed.
 */
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY } from '../lib/testing/draw.ts';
import { canMount } from '../lib/testing/private-mounts.ts';
import { live } from '../lib/testing/soak/life.ts';

const LIFE_MS = 45_000;
if (canMount) process.stdout.write(`A random life with the seed ${DAY}: npm run soak -- --seed ${DAY}\n`);
else process.stderr.write('A random life was NOT lived: no filesystem can be mounted in a namespace here.\n');

test.runIf(canMount)(
  'a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered',
  async () => {
    const lived = await live({ seed: DAY, forMs: LIFE_MS });
    process.stdout.write(`${JSON.stringify({ seed: DAY, ...lived })}\n`);
    expect(lived.findings, DRAWN_BY).toEqual([]);
    expect(lived.comparisons).toBeGreaterThan(0);
  },
);
