import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Statement } from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instanceId, type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { LIST_SORTS, type ListFilter } from '../instances.ts';
import type { Registry } from '../registry.ts';
import { entry, everyRow, makeInstance, transitionTo } from '../testing/fixtures.ts';
import { inOrder, matches, pages } from '../testing/list-cases.ts';
import { openTestRegistry } from '../testing/open-test-registry.ts';
import { RegistryDatabase } from './database.ts';
import { openDueCounts } from './due-counts.ts';
import { InstanceLists } from './lists.ts';
import { FILLED, FILLED_AT, fillRegistry } from './testing/fill.ts';

const ROWS = 12_000;
const LONG = 'internationalisation';

let folder: string;
let path: string;
let registry: PlainIds<Registry>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-rows-'));
  path = join(folder, 'registry.sqlite');
  fillRegistry(path, ROWS, { hosts: true });
  registry = withPlainIds(await openTestRegistry(path));
  const { rows: some } = await registry.instances.list({ sort: 'bytes', reverse: false, limit: 30 });
  for (const [n, row] of some.entries()) {
    if (n % 3 === 0) await registry.instances.setFault(row.id, { fault: 'unknown', reason: 'test' }, entry());
    if (row.state === 'suspended') await registry.instances.commit(transitionTo(row, 'active'));
  }
  // Many share the first twelve letters of a word, few the whole word.
  const { rows: many } = await registry.instances.list({ sort: 'name', reverse: false, limit: 700 });
  for (const [n, row] of many.entries()) {
    const labels = { ...row.labels, word: n % 100 === 0 ? `${LONG}${n}` : `${LONG.slice(0, 14)}x${n}` };
    await registry.instances.patch(row.id, { labels }, 1, entry());
  }
});

afterAll(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const { tenant, state, label, rareWord, commonWord, middlingWord, largeHost, smallHost } = FILLED;
const FILTERS: readonly ListFilter[] = [
  { text: rareWord },
  { text: commonWord },
  { text: middlingWord },
  { text: `${middlingWord} ${commonWord}`, tenant },
  { text: `${middlingWord} green team`, state, notState: 'active' },
  { text: `${rareWord} ${middlingWord} pro` },
  { text: `run ${LONG}0 sb`, notState: 'created' },
  { text: LONG },
  { text: LONG.slice(0, 14), state },
  { text: 'run 1' },
  { text: 'ghthou' },
  { text: 'taging' },
  { text: 'tla', state },
  { text: 'tla rod', tenant },
  { text: 'rod am', since: FILLED_AT - 90 * 86_400 },
  // All their trigrams are common, and they are not.
  { text: 'atlas-atlas' },
  { text: 'prod-prod', tenant },
  { text: 'nothing like this' },
  { tenant, label },
  { label, state: 'active' },
  { state, label: { key: 'env', value: 'prod' } },
  { label, since: FILLED_AT - 100 * 86_400 },
  { label, until: FILLED_AT - 300 * 86_400, tenant },
  { label: { key: 'env', value: 'prod' }, until: FILLED_AT - 300 * 86_400, notState: 'frozen' },
  { state, label: { key: 'env', value: 'prod' }, since: FILLED_AT - 200 * 86_400, until: FILLED_AT - 190 * 86_400 },
  { tenant, state, label: { key: 'env', value: 'prod' }, until: FILLED_AT - 30 * 86_400 },
  { text: commonWord, state, until: FILLED_AT - 5 * 86_400 },
  { state: 'suspended', fault: 'unknown' },
  { tenant, state, label, text: rareWord },
  { name: 'atlas run 9' },
  { state: 'suspended', until: FILLED_AT - 200 * 86_400 },
  { since: FILLED_AT - 30 * 86_400, until: FILLED_AT - 10 * 86_400 },
  { tenant, until: FILLED_AT - 300 * 86_400, state: 'frozen' },
  { since: FILLED_AT - 86_400, state: 'deleted' },
  { host: largeHost },
  { host: smallHost },
  { host: largeHost, tenant, label },
  { host: smallHost, text: commonWord, since: FILLED_AT - 200 * 86_400 },
  { host: largeHost, state: 'suspended', until: FILLED_AT - 30 * 86_400 },
  { state: 'active', ids: ['nobody', 'beacon'].map(instanceId) },
  { state: 'active', notIds: ['nobody'].map(instanceId), tenant },
];

test('among many rows every access path finds the same ones', async () => {
  const rows = await everyRow(registry);
  expect(rows.length).toBeGreaterThanOrEqual(ROWS);
  for (const filter of FILTERS) {
    const expected = rows.filter((row) => matches(row, filter)).map((row) => row.id);
    for (const sort of LIST_SORTS) {
      const what = JSON.stringify({ filter, sort });
      const reverse = sort === 'created' || sort === 'name';
      const found = await pages(registry, { ...filter, sort, reverse, limit: 100 });
      expect(inOrder(found, sort, reverse), what).toBe(true);
      expect(found.map((row) => row.id).sort(), what).toEqual([...expected].sort());
    }
    expect(await registry.instances.count(filter, 10_000), JSON.stringify(filter)).toBe(
      Math.min(expected.length, 10_001),
    );
    expect(await registry.instances.count(filter, 10), JSON.stringify(filter)).toBe(Math.min(expected.length, 11));
  }
});

test('a total is exact, or less than what there is: then rows are left that were not read', async () => {
  const rows = await everyRow(registry);
  const cut: number[] = [];
  for (const filter of FILTERS) {
    const what = JSON.stringify(filter);
    const expected = rows.filter((row) => matches(row, filter)).length;
    for (const cap of [100, 10_000]) {
      for (const _again of [false, true]) {
        const { n, isExact } = await registry.instances.total(filter, cap);
        if (isExact || n === cap) expect([n, isExact], what).toEqual([Math.min(expected, cap), expected <= cap]);
        else {
          expect(n, what).toBeGreaterThan(100);
          expect(n, what).toBeLessThanOrEqual(expected);
          cut.push(n);
        }
      }
    }
  }
  expect(cut.length).toBeGreaterThan(3);
});

test('cached results of a text search are refreshed when rows gain or lose the word, here or in another process', async () => {
  const rename = async (by: Registry, name: (n: number) => string | null) => {
    const { rows: few } = await registry.instances.list({ sort: 'bytes', reverse: true, limit: 5 });
    for (const [n, row] of few.entries()) await by.instances.patch(row.id, { name: name(n) }, 1, entry());
  };
  const counted = async () => registry.instances.count({ text: 'beacon' }, 1);
  await rename(registry, (n) => `beacon ${n}`);
  expect(await counted()).toBe(2);
  await rename(registry, (n) => (n === 0 ? 'beacon' : null));
  expect(await counted()).toBe(1);
  const listed = async () => {
    const found = await registry.instances.list({ text: 'beacon', sort: 'name', reverse: false, limit: 9 });
    return found.rows.map((row) => row.name);
  };
  expect(await listed()).toEqual(['beacon']);
  await makeInstance(registry, 'lit', 'created', { name: 'Beacon' });
  expect(await listed()).toEqual(['Beacon', 'beacon']);
  expect(await counted()).toBe(2);
  await registry.instances.patch('lit', { name: null }, 1, entry());
  await rename(registry, (n) => `beacon ${n}`);
  expect(await counted()).toBe(2);
  const other = await openTestRegistry(path);
  await rename(other, () => null);
  await other.close();
  expect(await counted()).toBe(0);
});

test('fills are reproducible, contain nothing due and have correct counts', async () => {
  const again = join(folder, 'again.sqlite');
  fillRegistry(again, 500);
  const small = await openTestRegistry(again, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 1, idleToFreezeSeconds: 1 },
  });
  const filled = await everyRow(small);
  expect(await small.instances.due(3_000_000_000, 10)).toEqual([]);
  expect(await small.instances.unsettled()).toEqual([]);
  expect(await small.instances.count({ label }, 10_000)).toBe(filled.filter((row) => matches(row, { label })).length);
  expect(await small.instances.countsByState()).toMatchObject({
    frozen: filled.filter((row) => row.state === 'frozen').length,
  });
  await small.close();
  expect(() => fillRegistry(again, 5)).toThrow(/rows already/);
});

test('no page reads an index from its beginning, and only small results are sorted', () => {
  const database = new RegistryDatabase(path);
  const plans: { sql: string; plan: string }[] = [];
  const prepare = database.client.prepare.bind(database.client) as (sql: string) => Statement<unknown[], unknown>;
  database.client.prepare = ((sql: string) => {
    if (!/^(EXPLAIN|PRAGMA)/.test(sql)) {
      const params = Array((sql.match(/\?/g) ?? []).length).fill(1);
      const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .raw()
        .all(...params) as unknown[][];
      plans.push({ sql, plan: plan.map((step) => step.at(-1)).join('\n') });
    }
    return prepare(sql);
  }) as typeof database.client.prepare;
  const lists = new InstanceLists(database);
  for (const filter of [
    {},
    { tenant },
    { state },
    { tenant, state },
    { label },
    { fault: 'unknown' },
    { pending: {} },
    { pending: { until: 1 }, tenant },
    { due: { since: 1, until: 2 }, state },
    ...FILTERS,
  ] as ListFilter[]) {
    for (const sort of LIST_SORTS) {
      for (const reverse of [false, true]) {
        const first = lists.page({ ...filter, sort, reverse, limit: 3 });
        if (first.next !== null) lists.page({ ...filter, sort, reverse, limit: 3, cursor: first.next });
      }
    }
  }
  for (const tenants of [undefined, [tenant]])
    openDueCounts(database)({ from: 1, seconds: 300, slots: 2, most: 100 }, tenants);
  database.close();
  const counts = plans.filter(({ sql }) => sql.includes('sum('));
  expect(counts).toHaveLength(2);
  expect(counts[0]?.plan).toContain('COVERING INDEX instances_due (due_at>? AND due_at<?)');
  expect(counts[1]?.plan).toContain('COVERING INDEX instances_by_tenant_due (tenant=? AND due_at>? AND due_at<?)');
  expect(plans.length).toBeGreaterThan(50);
  let inOrder = 0;
  for (const { sql, plan } of plans) {
    // That index has pending operations only.
    expect(plan, sql).not.toMatch(/SCAN (instances|labels)(?! USING INDEX instances_pending)/);
    // A result in another order than its index, or found by words, is read completely and sorted.
    const [, index] = /INDEXED BY "(\w+)"/.exec(sql) ?? [];
    const [, sorted] = /order by "\w+"\."(\w+?)(?:_key)?" /.exec(sql) ?? [];
    const isOrdered = index !== undefined && (sorted === undefined || index.endsWith(`_${sorted}`));
    if (!isOrdered) continue;
    inOrder += 1;
    expect(plan, sql).not.toContain('TEMP B-TREE');
    if (/\) [<>]=? \(\?/.test(sql)) expect(plan, sql).toMatch(/[<>]\(\?,\?\)/);
  }
  expect(inOrder).toBeGreaterThan(50);
});
