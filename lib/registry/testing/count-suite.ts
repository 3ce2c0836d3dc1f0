/** What every registry guarantees of counts: they never drift from the rows. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STATES, TRANSITIONS } from '../../lifecycle/state-map.ts';
import { FAULTS } from '../../lifecycle/words.ts';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { InstanceRow } from '../types.ts';
import { entry, everyRow, instance, intent, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';
import { dice, pages } from './list-cases.ts';

export function countSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  describe('counts', () => {
    test('after five hundred random operations every maintained count equals a scan', async () => {
      const roll = dice(42);
      const ids: string[] = [];
      const pick = async () => registry.instances.get(ids[roll(Math.max(1, ids.length))] ?? 'nobody');
      const label = () => ({ env: ['prod', 'staging'][roll(2)] ?? '', team: `t${roll(3)}` });
      const operations = [
        async () => {
          const id = `r-${ids.length}`;
          ids.push(id);
          const over = { tenant: `t-${roll(4)}`, labels: label(), name: roll(2) === 0 ? `n${roll(20)}` : null };
          await registry.instances.create(instance(id, over), START + roll(1000), entry());
        },
        async () => {
          const row = await pick();
          const to = row && TRANSITIONS[row.state][roll(TRANSITIONS[row.state].length || 1)];
          if (row && to)
            await registry.instances.commit(transitionTo(row, to, { now: START + roll(1000), bytes: roll(5000) }));
        },
        async () => {
          const row = await pick();
          const fault = FAULTS[roll(6)];
          if (row) await registry.instances.setFault(row.id, fault ? { fault, reason: 'r' } : null, entry());
        },
        async () => {
          const row = await pick();
          if (row) await registry.instances.patch(row.id, { labels: label(), name: `n${roll(30)}` }, START, entry());
        },
        async () => {
          const row = await pick();
          if (row && (await registry.instances.begin(row.id, intent(row)))) {
            await registry.instances.abandon(
              row.id,
              { failures: 1, fault: roll(2) === 0 ? null : { fault: 'unknown', reason: 'r' } },
              [],
            );
          }
        },
        async () => {
          const row = await pick();
          if (row) await registry.instances.touch([{ id: row.id, updated: row.updated + roll(100), bytes: roll(9) }]);
        },
        async () => {
          const row = await pick();
          if (row) await registry.instances.commit({ ...transitionTo(row, row.state), generation: 99_999 });
        },
      ];
      let refused = 0;
      for (let n = 0; n < 500; n += 1) {
        try {
          await operations[roll(operations.length)]?.();
        } catch {
          refused += 1;
        }
      }
      expect(refused).toBeGreaterThan(10);
      const rows = await everyRow(registry);
      expect(rows.length).toBeGreaterThan(40);
      const scan = (test: (row: InstanceRow) => boolean) => rows.filter(test).length;
      const byState = (of: (row: InstanceRow) => boolean) =>
        Object.fromEntries(STATES.map((state) => [state, scan((row) => of(row) && row.state === state)]));
      expect(await registry.instances.countsByState()).toEqual(byState(() => true));
      const tenants = [...new Set(rows.map((row) => row.tenant))].sort();
      expect(await registry.instances.tenants()).toEqual(
        tenants.map((tenant) => ({ tenant, counts: byState((row) => row.tenant === tenant) })),
      );
      for (const tenant of tenants)
        expect(await registry.instances.countsByState([tenant])).toEqual(byState((row) => row.tenant === tenant));
      expect(await registry.instances.countsByFault()).toEqual(
        Object.fromEntries(
          FAULTS.map((fault) => [fault, scan((row) => row.state !== 'deleted' && row.fault === fault)]),
        ),
      );
      for (const value of ['t0', 't1', 't2']) {
        const kept = await registry.instances.count({ label: { key: 'team', value } }, 10_000);
        expect(kept).toBe(scan((row) => row.state !== 'deleted' && row.labels.team === value));
        expect(
          await pages(registry, { label: { key: 'team', value }, sort: 'bytes', reverse: false, limit: 20 }),
        ).toHaveLength(kept);
      }
    });
  });
}
