/**
 * What every registry promises of lists and counts: each page once, whatever is asked for, and numbers that cannot
 * drift.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextMove } from '../../lifecycle/ladder.ts';
import { STATES, TRANSITIONS } from '../../lifecycle/states.ts';
import { FAULTS } from '../../lifecycle/words.ts';
import { LIST_SORTS, type ListFilter, type ListRequest } from '../instances.ts';
import type { Registry } from '../registry.ts';
import { dueAt } from '../thresholds.ts';
import type { DueTarget, InstanceRow } from '../types.ts';
import { type Driver, entry, everyRow, HOSTILE, hop, instance, intent, make, START, THRESHOLDS } from './make.ts';

/** Numbers below `n` that look random and are the same in every run. */
function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
}

/** What a filter means, in the plainest words. */
export function matches(row: InstanceRow, filter: ListFilter): boolean {
  const { tenant, state, notState, fault, name, label, since, until, pending, due, text } = filter;
  if (
    pending !== undefined &&
    (row.pending?.startedMs ?? Number.POSITIVE_INFINITY) > (pending.until ?? Number.MAX_VALUE)
  )
    return false;
  if (due !== undefined) {
    const at = row.pending === null ? dueAt(row, THRESHOLDS) : null;
    if (at === null || at < (due.since ?? 0) || at > (due.until ?? Number.POSITIVE_INFINITY)) return false;
  }
  if (state === undefined ? row.state === 'deleted' : row.state !== state) return false;
  if (notState !== undefined && row.state === notState) return false;
  if (tenant !== undefined && row.tenant !== tenant) return false;
  if (fault !== undefined && row.fault !== fault) return false;
  if (name !== undefined && row.name !== name) return false;
  if (label !== undefined && row.labels[label.key] !== label.value) return false;
  if (row.updated < (since ?? 0) || row.updated > (until ?? Number.POSITIVE_INFINITY)) return false;
  const has = [row.id, row.tenant, row.name ?? '', ...Object.values(row.labels)]
    .join(' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const asked = (text ?? '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return asked.every((word) => has.some((one) => one.startsWith(word)));
}

/** The order that a sort promises; equals may come in any order. */
export function inOrder(rows: InstanceRow[], sort: ListRequest['sort'], reverse: boolean): boolean {
  const key = (row: InstanceRow) => (sort === 'name' ? (row.name ?? '\u{10FFFF}') : (row[sort] ?? -1));
  const up = (sort === 'name') !== reverse;
  return rows.every((row, n) => {
    const before = rows[n - 1];
    if (before === undefined || key(before) === key(row)) return true;
    return key(before) < key(row) === up;
  });
}

export async function pages(
  registry: Registry,
  request: ListRequest,
  between?: () => Promise<unknown>,
): Promise<InstanceRow[]> {
  const rows: InstanceRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await registry.instances.list({ ...request, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(request.limit);
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
    await between?.();
  } while (cursor !== undefined);
  return rows;
}

const FILTERS: readonly ListFilter[] = [
  {},
  { tenant: 'acme' },
  { state: 'frozen' },
  { state: 'deleted' },
  { notState: 'active' },
  { fault: 'corrupt' },
  { name: 'atlas 7' },
  { label: { key: 'env', value: 'prod' } },
  { text: 'atl' },
  { tenant: 'acme', state: 'suspended' },
  { tenant: 'acme', state: 'deleted', label: { key: 'env', value: 'prod' } },
  { tenant: 'acme', label: { key: 'env', value: 'prod' }, text: 'pro bor' },
  { state: 'deleted', text: 'borealis' },
  { tenant: 'globex', fault: 'error', notState: 'frozen' },
  { name: 'atlas 7', tenant: 'globex' },
  { state: 'frozen', notState: 'frozen' },
  { tenant: 'nobody' },
  { since: START + 15 },
  { until: START + 4, tenant: 'acme' },
  { since: START + 3, until: START + 30, state: 'archived' },
  { pending: {} },
  { pending: { until: (START - 100) * 1000 } },
  { pending: { until: (START - 100) * 1000 }, tenant: 'acme', text: 'atl' },
  { pending: {}, state: 'deleted' },
  { due: {} },
  { due: { until: START + 910 } },
  { due: { since: START + 920, until: START + 90_000 }, tenant: 'globex', text: 'atl' },
  { since: START + 5, text: 'atl', label: { key: 'env', value: 'prod' } },
];

/** Fills a registry with a mixture in which nearly every filter matches something. */
async function mix(registry: Registry, rows: number): Promise<void> {
  const roll = dice(7);
  for (let n = 0; n < rows; n += 1) {
    const state = STATES[roll(STATES.length)] ?? 'created';
    const noun = ['atlas', 'Borealis', 'cobalt'][roll(3)];
    const over = {
      tenant: n % 3 === 0 ? 'globex' : 'acme',
      name: n === 7 || n === 9 ? 'atlas 7' : roll(4) === 0 ? null : `${noun} no ${n}`,
      labels: { env: roll(2) === 0 ? 'prod' : 'staging', team: `team-${roll(5)}` },
    };
    const { id } = await make(registry, `r-${n}`, state, over, START + roll(20));
    if (state === 'deleted') continue;
    if (roll(3) > 0) {
      const bytes = roll(3) === 0 ? null : roll(10) * 1000;
      await registry.instances.touch([{ id, updated: START + roll(40), bytes }]);
    }
    const fault = FAULTS[roll(12)];
    if (fault !== undefined) await registry.instances.setFault(id, { fault, reason: 'test' }, entry());
    const row = await registry.instances.get(id);
    if (row !== null && n % 8 === 1)
      await registry.instances.begin(id, intent(row, { startedMs: (START - n * 3) * 1000 }));
  }
}

export function listSuite(driver: Driver): void {
  let registry: Registry;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  describe('listing', () => {
    test('every filter with every sort pages through what matches exactly once, while others are being created', async () => {
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
              await make(registry, `late-${late++}`, 'created', over, START + (late % 50));
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

    test('what falls due is counted by when and where to, the overdue first, and what is under way not at all', async () => {
      await mix(registry, 90);
      await make(registry, 'brief', 'active', { ephemeral: true, idleToSuspendSeconds: 60, tenant: 'globex' });
      await make(registry, 'filed', 'archived', { ephemeral: true });
      await make(registry, 'ended', 'suspended', { ephemeral: true });
      const spans = { from: START + 905, seconds: 10, slots: 4 };
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
      }
    });

    test('each filter counts what it lists', async () => {
      await mix(registry, 120);
      for (const filter of FILTERS) {
        const all = await pages(registry, { ...filter, sort: 'name', reverse: true, limit: 50 });
        expect(await registry.instances.count(filter, 10_000), JSON.stringify(filter)).toBe(all.length);
        expect(await registry.instances.count(filter, 3), JSON.stringify(filter)).toBe(Math.min(all.length, 4));
      }
    });

    test('pages of rows that are equal in the sort come without gaps or repeats', async () => {
      for (let n = 0; n < 30; n += 1) await make(registry, `r-${n}`);
      for (const sort of LIST_SORTS) {
        for (const reverse of [false, true]) {
          const found = await pages(registry, { sort, reverse, limit: 4 });
          expect(new Set(found.map((row) => row.id)).size).toBe(30);
          expect(found).toHaveLength(30);
        }
      }
    });

    test('a page that ends exactly at the end has no next', async () => {
      for (let n = 0; n < 6; n += 1) await make(registry, `r-${n}`);
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

    test('a cursor that was not made for this list is refused', async () => {
      for (let n = 0; n < 5; n += 1) await make(registry, `r-${n}`, 'created', { name: `n${n}` });
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

    test('what carries a label is sorted by what it is called, touched and sized now', async () => {
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
        await make(registry, id, 'active', { labels, name: id }, START + n);
      expect([await order('name'), await order('updated'), await order('created')]).toEqual(['abc', 'cba', 'cba']);
      await registry.instances.patch('a', { name: 'zebra' }, START, entry());
      await registry.instances.touch([{ id: 'b', updated: START + 50, bytes: 7 }]);
      expect([await order('name'), await order('updated'), await order('bytes')]).toEqual(['bca', 'bca', 'bca']);
      await registry.instances.patch('b', { name: null }, START, entry());
      expect(await order('name')).toBe('cab');
    });

    test('a label with an odd key or value is found by exactly that', async () => {
      const labels = { 'a.b/c': '1', 'quote"d': "it's", nul: 'a\u0000b' };
      await make(registry, 'a', 'created', { labels });
      await make(registry, 'b', 'created', { labels: { 'a.b/c': '10', nul: 'a' } });
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

  describe('text', () => {
    const search = async (text: string) => {
      const found = await registry.instances.list({ text, sort: 'name', reverse: false, limit: 50 });
      expect(await registry.instances.count({ text }, 50)).toBe(found.rows.length);
      return found.rows.map((row) => row.id).sort();
    };

    test('words are found by their beginning in id, name, tenant and label values, all of them, in any case', async () => {
      await make(registry, 'sb-0001', 'active', {
        tenant: 'acme-prod',
        name: 'Größe Łódź 数据 run',
        labels: { team: 'Search & Rescue' },
      });
      await make(registry, 'other', 'active', { tenant: 'globex', name: 'run' });
      for (const text of [
        'sb',
        'sb-0001',
        '0001 sb',
        'ACME',
        'prod',
        'grosse'.slice(0, 2),
        'groß',
        'Größe',
        'łód',
        '数',
        'resc',
        'SEARCH run',
        'se re',
      ]) {
        expect(await search(text), text).toEqual(['sb-0001']);
      }
      expect(await search('run')).toEqual(['other', 'sb-0001']);
      for (const text of ['un', 'acme globex', 'b-0001x', 'team']) expect(await search(text), text).toEqual([]);
    });

    test('a renamed, relabelled or deleted sandbox is found by what it is now', async () => {
      await make(registry, 'a', 'archived', { name: 'before', labels: { x: 'early' } });
      expect(await search('before early')).toEqual(['a']);
      await registry.instances.patch('a', { name: 'after', labels: { x: 'later' } }, START, entry());
      expect(await search('before')).toEqual([]);
      expect(await search('early')).toEqual([]);
      expect(await search('after later')).toEqual(['a']);
      const row = await registry.instances.get('a');
      if (row !== null) await registry.instances.commit(hop(row, 'deleted'));
      expect(await search('after')).toEqual([]);
      const buried = await registry.instances.list({
        state: 'deleted',
        text: 'after',
        sort: 'name',
        reverse: false,
        limit: 5,
      });
      expect(buried.rows.map((one) => one.id)).toEqual(['a']);
    });

    test('odd text is never syntax: it finds what it says, or everything when it says nothing', async () => {
      await make(registry, 'plain', 'created', { name: 'near and or not' });
      await make(registry, 'star', 'created', { name: 'c*d "quoted" col:umn' });
      for (const text of ['', ' ', '"', '*', '""*', "'", '- + ^ ( )', '\u0000', '\ud800'])
        expect(await search(text), text).toEqual(['plain', 'star']);
      for (const text of ['near', 'AND', 'not OR', 'near(and or)']) expect(await search(text), text).toEqual(['plain']);
      for (const text of ['d*', '"quoted', 'col:umn', 'umn col']) expect(await search(text), text).toEqual(['star']);
      const hostile = [
        ...HOSTILE.filter((text) => /[a-z]/i.test(text)),
        'x'.repeat(5000),
        'w '.repeat(2500),
        '"q" NEAR',
      ];
      for (const text of hostile) expect(await search(text), text.slice(0, 40)).toEqual([]);
      expect(await search(`near${' and'.repeat(1000)}`)).toEqual(['plain']);
    });
  });

  describe('counts', () => {
    test('five hundred random operations leave every kept count as a scan would find it', async () => {
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
          if (row && to) await registry.instances.commit(hop(row, to, { now: START + roll(1000), bytes: roll(5000) }));
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
          if (row) await registry.instances.commit({ ...hop(row, row.state), generation: 99_999 });
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
