/**
 * An operation of a second host under kills and power cuts beside a first one over the same registry: one a day.
 * `npm run faults -- --beside` runs all.
 */
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY, partOf } from '../lib/testing/draw.ts';
import { drawFrom, runBeside } from '../lib/testing/faults/run.ts';
import { SCENARIOS } from '../lib/testing/faults/scenarios.ts';

const all = SCENARIOS.filter(({ isFirst }) => isFirst !== true);

for (const scenario of partOf(all, all.length, DAY)) {
  test(`${scenario.name}: a second host that is killed at it changes no row and no file of the first`, async () => {
    const { findings, effects, tried, same } = await runBeside(scenario, drawFrom(DAY, scenario.name));
    expect(findings, DRAWN_BY).toEqual([]);
    expect(effects).toBeGreaterThan(0);
    expect(Object.values(tried).reduce((sum, count) => sum + count, same)).toBeGreaterThanOrEqual(effects);
  });
}
