/** Every effect of operations under a kill and one drawn fault each: tests of their scenarios. */
import { expect, test } from 'vitest';
import { drawFrom, runScenario } from '../lib/testing/faults/run.ts';
import { SCENARIOS } from '../lib/testing/faults/scenarios.ts';

/**
 * Another one every day, the same all day, so that a failure can be had again: `WB_FAULT_SEED=… npm test e2e/faults`.
 */
const SEED = Number(process.env.WB_FAULT_SEED ?? Math.floor(Date.now() / 86_400_000));

/** Declares a test for each scenario whose place among all leaves `part` when divided by `parts`. */
export function testFaults(part: number, parts: number): void {
  process.stdout.write(`faults: seed ${SEED}\n`);
  for (const [at, scenario] of SCENARIOS.entries()) {
    if (at % parts !== part) continue;
    test(`${scenario.name}: a kill beside any effect, a failure of one or a power cut loses nothing`, {
      timeout: 300_000,
    }, async () => {
      const { findings, effects, tried, same } = await runScenario(scenario, drawFrom(SEED, scenario.name));
      expect(findings, `WB_FAULT_SEED=${SEED}`).toEqual([]);
      expect(effects).toBeGreaterThan(0);
      expect(Object.values(tried).reduce((sum, count) => sum + count, same)).toBeGreaterThanOrEqual(effects);
    });
  }
}
