import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY, DRAWS_ALL } from '../testing/draw.ts';
import { History, type HistoryCounts } from './testing/history.ts';

const ALL = 500;
const OF_A_DAY = 40;
const STEPS = 30;
const PAGE_SIZES = [512, 1024, 4096, 65_536];

test('at every cut of random histories the rebuilt file is what a reader sees, and at rest it is the file', async () => {
  const first = DRAWS_ALL ? 0 : (DAY * OF_A_DAY) % 2 ** 31;
  const total: HistoryCounts = { cuts: 0, rests: 0, kills: 0, bases: 0, restarts: 0, merges: 0 };
  for (let seed = first; seed < first + (DRAWS_ALL ? ALL : OF_A_DAY); seed += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-history-'));
    try {
      const pageSize = PAGE_SIZES[seed % PAGE_SIZES.length] ?? 0;
      const history = new History(folder, { seed, pageSize, steps: STEPS });
      await history.live().catch((cause) => {
        throw new Error(`history ${seed} (${DRAWN_BY}): ${cause.message}`, { cause });
      });
      for (const name of Object.keys(total) as (keyof HistoryCounts)[]) total[name] += history.counts[name];
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  // Otherwise they would prove less than they say.
  const least = { cuts: 100, rests: 40, kills: 5, bases: 40, restarts: 10, merges: 50 };
  for (const name of Object.keys(least) as (keyof HistoryCounts)[]) {
    expect([name, total[name] >= least[name]]).toEqual([name, true]);
  }
});
