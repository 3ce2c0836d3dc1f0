/** Every effect of operations under a kill and one drawn fault each: tests of their scenarios. */
import { expect, test } from 'vitest';
import { DAY, DRAWN_BY, partOf } from '../lib/testing/draw.ts';
import { drawFrom, runScenario } from '../lib/testing/faults/run.ts';
import { SCENARIOS } from '../lib/testing/faults/scenarios.ts';

/**
 * Declares a test for each scenario whose place among all leaves `part` when divided by `parts`. A round tries every
 * other one of them.
 */
export function testFaults(part: number, parts: number): void {
  process.stdout.write(`faults: ${DRAWN_BY}\n`);
  const all = SCENARIOS.filter((_, at) => at % parts === part);
  for (const scenario of partOf(all, 2)) {
    test(`${scenario.name}: a kill beside any effect, a failure of one or a power cut loses nothing`, async () => {
      const { findings, effects, tried, same } = await runScenario(scenario, drawFrom(DAY, scenario.name));
      expect(findings, DRAWN_BY).toEqual([]);
      expect(effects).toBeGreaterThan(0);
      expect(Object.values(tried).reduce((sum, count) => sum + count, same)).toBeGreaterThanOrEqual(effects);
    });
  }
}
