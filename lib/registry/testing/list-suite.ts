/** What every registry guarantees of lists: each row once, on pages of any size, for every filter and sort. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextMove } from '../../lifecycle/ladder.ts';
import type { PlainIds } from '../../testing/plain-ids.ts';
import { LIST_SORTS, type ListRequest } from '../instances.ts';
import type { Registry } from '../registry.ts';
import type { DueTarget } from '../types.ts';
import { entry, everyRow, HOSTILE, makeInstance, type RegistryUnderTest, START } from './fixtures.ts';
import { FILTERS, inOrder, matches, mix, pages } from './list-cases.ts';

export function listSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  describe('listing', () => {
    test('every filter with every sort pages through its matches exactly once, while others are being created', async () => {
      await mix(registry, 120);
      let late = 0;
      let turns = 0;
      let matched = 0;
      for (const filter of FILTERS) {
        for (const sort of LIST_SORTS) {
          for (const reverse of [false, true]) {
            const what = JSON.stringify({ filter, sort, reverse });
            const there = await everyRow(registry);
            const expected = there.filter((row) => matches(row, filter)).map((row) => row.id);
            const found = await pages(registry, { ...filter, sort, reverse, limit: 7 }, async () => {
              if (turns++ % 5 !== 0) return;
              const over = { tenant: 'acme', name: `borealis late ${late}`, labels: { env: 'prod' } };
              await makeInstance(registry, `late-${late++}`, 'created', over, START + (late % 50));
            });
            const ids = found.map((row) => row.id);
            expect(new Set(ids).size, what).toBe(ids.length);
            expect(ids.filter((id) => there.some((row) => row.id === id)).sort(), what).toEqual(expected.sort());
            expect(inOrder(found, sort, reverse), what).toBe(true);
            expect(
              found.every((row) => matches(row, filter)),
              what,
            ).toBe(true);
            matched += expected.length === 0 ? 0 : 1;
          }
        }
      }
      expect(late).toBeGreaterThan(50);
      expect(matched).toBeGreaterThan(100);
    });

    test('due rows are counted by time and target state, overdue ones first, pending ones not at all', async () => {
      await mix(registry, 90);
      await makeInstance(registry, 'brief', 'active', { ephemeral: true, idleToSuspendSeconds: 60, tenant: 'globex' });
      await makeInstance(registry, 'filed', 'archived', { ephemeral: true });
      await makeInstance(registry, 'ended', 'suspended', { ephemeral: true });
      const spans = { from: START + 905, seconds: 10, slots: 4, most: 1000 };
      for (const tenants of [undefined, ['globex'], []]) {
        const counted = await registry.instances.dueCounts(spans, tenants);
        const expected = Array.from({ length: 4 }, () => ({ suspended: 0, frozen: 0, archived: 0, deleted: 0 }));
        for (const { row, thresholds } of await registry.instances.dueUntil(START + 944, 1000, tenants)) {
          const next = nextMove({ ...row, blocked: false, attached: 0 }, thresholds);
          const slot = expected[Math.max(0, Math.floor(((next?.at ?? 0) - spans.from) / 10))];
          if (slot !== undefined) slot[next?.state as DueTarget] += 1;
        }
        expect(counted, String(tenants)).toEqual(expected);
        const sum = counted.flatMap((slot) => Object.values(slot)).reduce((all, n) => all + n, 0);
        if (tenants?.length !== 0) expect(sum).toBeGreaterThan(3);
        const few = await registry.instances.dueCounts({ ...spans, most: 2 }, tenants);
        const totals = (slots: typeof counted) =>
          slots.map((slot) => Object.values(slot).reduce((all, n) => all + n, 0));
        expect(totals(few), String(tenants)).toEqual(totals(counted).map((total) => Math.min(2, total)));
      }
    });

    test('the count of each filter equals its list', async () => {
      await mix(registry, 120);
      for (const filter of FILTERS) {
        const all = await pages(registry, { ...filter, sort: 'name', reverse: true, limit: 50 });
        expect(await registry.instances.count(filter, 10_000), JSON.stringify(filter)).toBe(all.length);
        expect(await registry.instances.count(filter, 3), JSON.stringify(filter)).toBe(Math.min(all.length, 4));
      }
    });

    test('a total stays true while rows leave the filter and join it, and for narrower and wider spans of time', async () => {
      const ids = Array.from({ length: 40 }, (_, n) => `r-${n}`);
      for (const id of ids) await makeInstance(registry, id, 'created', { labels: { env: 'prod' } }, START);
      const idle = { until: START + 100, label: { key: 'env', value: 'prod' } };
      const totalOf = async (filter: object, cap: number) => {
        const { n, isExact } = await registry.instances.total(filter, cap);
        return `${n}${isExact ? '' : '+'}`;
      };
      const shown = (n: number) => (n > 20 ? '20+' : String(n));
      expect(await totalOf(idle, 20)).toBe('20+');
      expect(await totalOf({ ...idle, until: START + 500 }, 20)).toBe('20+');
      expect(await totalOf({ ...idle, until: START - 1 }, 20)).toBe('0');
      expect(await totalOf(idle, 100)).toBe('40');
      for (const [left, id] of ids.slice(0, 30).entries()) {
        await registry.instances.touch([{ id, updated: START + 200 }]);
        expect(await totalOf(idle, 20)).toBe(shown(39 - left));
      }
      for (let joined = 0; joined < 15; joined += 1) {
        await makeInstance(registry, `s-${joined}`, 'created', { labels: { env: 'prod' } }, START);
        expect(await totalOf(idle, 20)).toBe(shown(11 + joined));
      }
    });

    test('pages of rows with equal sort keys have no gaps and no repeats', async () => {
      for (let n = 0; n < 30; n += 1) await makeInstance(registry, `r-${n}`);
      for (const sort of LIST_SORTS) {
        for (const reverse of [false, true]) {
          const found = await pages(registry, { sort, reverse, limit: 4 });
          expect(new Set(found.map((row) => row.id)).size).toBe(30);
          expect(found).toHaveLength(30);
        }
      }
    });

    test('a page that ends exactly at the end has no next', async () => {
      for (let n = 0; n < 6; n += 1) await makeInstance(registry, `r-${n}`);
      const first = await registry.instances.list({ sort: 'created', reverse: false, limit: 3 });
      expect(first.next).not.toBeNull();
      const second = await registry.instances.list({
        sort: 'created',
        reverse: false,
        limit: 3,
        cursor: first.next ?? '',
      });
      expect(second.rows).toHaveLength(3);
      expect(second.next).toBeNull();
    });

    test('a cursor of another list is refused', async () => {
      for (let n = 0; n < 5; n += 1) await makeInstance(registry, `r-${n}`, 'created', { name: `n${n}` });
      const { next } = await registry.instances.list({ sort: 'name', reverse: false, limit: 2 });
      const list =
        (cursor: string, over: Partial<ListRequest> = {}) =>
        async () =>
          registry.instances.list({ sort: 'name', reverse: false, limit: 2, ...over, cursor });
      const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const junk = [
        '',
        'x',
        '%',
        '!!',
        `${next}=`,
        ` ${next}`,
        json(null),
        json({}),
        json([]),
        json(['name', 1, 2]),
        json(['name', 'a', 'b']),
      ];
      const more = [
        json(['name', 'a', 1, 2]),
        json(['name', ['a'], 1]),
        json(['name', 'a', 1.5]),
        'A'.repeat(5000),
        HOSTILE[0] ?? '',
      ];
      for (const cursor of [...junk, ...more]) await expect(list(cursor)).rejects.toMatchObject({ code: 'validation' });
      await expect(list(next ?? '', { reverse: true })).rejects.toMatchObject({ code: 'validation' });
      await expect(list(next ?? '', { sort: 'bytes' })).rejects.toMatchObject({ code: 'validation' });
      expect(
        await registry.instances.list({ sort: 'name', reverse: false, limit: 2, cursor: next ?? '' }),
      ).toMatchObject({
        rows: [{}, {}],
      });
    });

    test('rows with a label are sorted by their current name, times and size', async () => {
      const labels = { env: 'prod' };
      const order = async (sort: ListRequest['sort']) => {
        const found = await registry.instances.list({
          label: { key: 'env', value: 'prod' },
          sort,
          reverse: false,
          limit: 5,
        });
        return found.rows.map((row) => row.id).join('');
      };
      for (const [n, id] of ['a', 'b', 'c'].entries())
        await makeInstance(registry, id, 'active', { labels, name: id }, START + n);
      expect([await order('name'), await order('updated'), await order('created')]).toEqual(['abc', 'cba', 'cba']);
      await registry.instances.patch('a', { name: 'zebra' }, START, entry());
      await registry.instances.touch([{ id: 'b', updated: START + 50, bytes: 7 }]);
      expect([await order('name'), await order('updated'), await order('bytes')]).toEqual(['bca', 'bca', 'bca']);
      await registry.instances.patch('b', { name: null }, START, entry());
      expect(await order('name')).toBe('cab');
    });

    test('a label with an odd key or value is found by exactly that text', async () => {
      const labels = { 'a.b/c': '1', 'quote"d': "it's", nul: 'a\u0000b' };
      await makeInstance(registry, 'a', 'created', { labels });
      await makeInstance(registry, 'b', 'created', { labels: { 'a.b/c': '10', nul: 'a' } });
      for (const [key, value] of Object.entries(labels)) {
        const found = await registry.instances.list({
          label: { key, value },
          sort: 'updated',
          reverse: false,
          limit: 5,
        });
        expect(found.rows.map((row) => row.id)).toEqual(['a']);
      }
      await registry.instances.patch('a', { labels: { fresh: 'yes' } }, START, entry());
      expect(await registry.instances.count({ label: { key: 'a.b/c', value: '1' } }, 10)).toBe(0);
      expect(await registry.instances.count({ label: { key: 'fresh', value: 'yes' } }, 10)).toBe(1);
    });
  });
}
