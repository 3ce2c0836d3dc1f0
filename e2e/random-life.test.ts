/**
 * A minute of a random life, another one every day: `npm run soak` lives longer ones, and the same one again by its
 * seed.
 */
import { expect, test } from 'vitest';
import { canMount } from '../lib/testing/private-mounts.ts';
import { live } from '../lib/testing/soak/life.ts';

const LIFE_MS = 45_000;
const given = process.env.WB_TEST_SEED;
const seed = given === undefined ? Math.floor(Date.now() / 86_400_000) : Number(given);
if (canMount) process.stdout.write(`A random life with the seed ${seed}: npm run soak -- --seed ${seed}\n`);
else process.stderr.write('A random life was NOT lived: no filesystem can be mounted in a namespace here.\n');

test.runIf(canMount)(
  'a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered',
  { timeout: 240_000 },
  async () => {
    const lived = await live({ seed, forMs: LIFE_MS });
    process.stdout.write(`${JSON.stringify({ seed, ...lived })}\n`);
    expect(lived.findings, `seed ${seed}`).toEqual([]);
    expect(lived.comparisons).toBeGreaterThan(0);
  },
);
