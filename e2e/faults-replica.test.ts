/**
 * Something that a replica does under kills, power cuts and failures at some of its effects: one a day. `npm run
 * faults -- --replica` runs all.
 */
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY, partOf } from '../lib/testing/draw.ts';
import { REPLICA_SCENARIOS } from '../lib/testing/faults/replica-scenarios.ts';
import { drawFrom, runWithReplica } from '../lib/testing/faults/run.ts';

/** Of so many effects one has a fault. */
const ONE_IN = 7;

for (const scenario of partOf(REPLICA_SCENARIOS, REPLICA_SCENARIOS.length, DAY)) {
  test(`${scenario.name}: a restore has what was answered, whatever happens to the server`, async () => {
    const { findings, effects, tried, same } = await runWithReplica(scenario, drawFrom(DAY, scenario.name, ONE_IN));
    expect(findings, DRAWN_BY).toEqual([]);
    expect(effects).toBeGreaterThan(ONE_IN);
    expect(Object.values(tried).reduce((sum, count) => sum + count, same)).toBeGreaterThan(0);
  });
}
