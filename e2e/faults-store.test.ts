/**
 * An operation on a server with an object store under kills, power cuts and failures at each of its effects, those in
 * the store too: one a day. `npm run faults -- --store` runs all.
 */
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY, partOf } from '../lib/testing/draw.ts';
import { drawFrom, runWithStore } from '../lib/testing/faults/run.ts';
import { SCENARIOS } from '../lib/testing/faults/scenarios.ts';

/** Those that file a sandbox, take one from where it rests, or begin with what a kill left of that. */
const all = SCENARIOS.filter(({ name }) =>
  /freeze|frozen|archive|delet|prefetch|in place|plan|clone|start after a kill/.test(name),
);

for (const scenario of partOf(all, all.length, DAY)) {
  test(`${scenario.name}: what is in the store is whole whatever happens to the server`, async () => {
    const { findings, effects, tried, same } = await runWithStore(scenario, drawFrom(DAY, scenario.name));
    expect(findings, DRAWN_BY).toEqual([]);
    expect(effects).toBeGreaterThan(0);
    expect(Object.values(tried).reduce((sum, count) => sum + count, same)).toBeGreaterThanOrEqual(effects);
  });
}
