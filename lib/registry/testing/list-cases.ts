/** Filters, rows of which nearly every filter matches some, and the expected lists. */
import { expect } from 'vitest';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS } from '../../lifecycle/words.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import type { ListFilter, ListRequest } from '../instances.ts';
import type { Registry } from '../registry.ts';
import { dueAt } from '../thresholds.ts';
import type { InstanceRow } from '../types.ts';
import { entry, intent, makeInstance, START, THRESHOLDS } from './fixtures.ts';

/** Reproducible pseudo-random numbers below `n`. */
export function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
}

/** A plain reference implementation of a filter. */
export function matches(row: InstanceRow, filter: ListFilter): boolean {
  const { tenant, state, notState, ids, notIds, fault, name, label, host, since, until, pending, due, text } = filter;
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
  if (ids?.includes(row.id) === false || notIds?.includes(row.id) === true) return false;
  if (tenant !== undefined && row.tenant !== tenant) return false;
  if (fault !== undefined && row.fault !== fault) return false;
  if (name !== undefined && row.name !== name) return false;
  if (host !== undefined && row.ownerHost !== host) return false;
  if (label !== undefined && row.labels[label.key] !== label.value) return false;
  if (row.updated < (since ?? 0) || row.updated > (until ?? Number.POSITIVE_INFINITY)) return false;
  const fields = [row.id, row.tenant, row.name ?? '', ...Object.values(row.labels)].map((field) => spaced(field));
  const terms = (text ?? '').split(' ').flatMap((term) => spaced(term).trim() || []);
  return terms.every((term) => fields.some((field) => field.includes(term.length > 2 ? term : ` ${term}`)));
}

/** The words of letters and digits, each after a space. */
function spaced(text: string): string {
  const words = text.toLowerCase().split(/[^a-z0-9]+/);
  return words.flatMap((word) => (word === '' ? [] : [` ${word}`])).join('');
}

/** The order of a sort; equal rows may come in any order. */
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

/** One filter of each kind, and some combinations. */
export const FILTERS: readonly ListFilter[] = [
  {},
  { tenant: 'acme' },
  { state: 'frozen' },
  { state: 'deleted' },
  { notState: 'active' },
  { state: 'active', ids: ['r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6', 'nobody'].map(instanceId) },
  { state: 'active', notIds: ['r-1', 'r-2', 'r-3', 'nobody'].map(instanceId), tenant: 'acme', text: 'atl' },
  { ids: [] },
  { notIds: [], fault: 'error' },
  { fault: 'corrupt' },
  { name: 'atlas 7' },
  { label: { key: 'env', value: 'prod' } },
  { text: 'atl' },
  { text: 'tla' },
  { text: 'alt no', tenant: 'acme' },
  { text: 'o-1' },
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
  { host: 'one' },
  { host: 'two', tenant: 'acme', since: START + 5 },
  { host: 'two', state: 'suspended', label: { key: 'env', value: 'prod' } },
  { host: 'one', text: 'atl', notState: 'frozen', until: START + 35 },
  { host: 'one', state: 'deleted' },
  { host: 'nobody' },
  { since: START + 5, text: 'atl', label: { key: 'env', value: 'prod' } },
];

/** Gives a sandbox to a host, by an operation that did not happen. */
async function given(registry: Registry, id: InstanceRow['id'], host: string): Promise<void> {
  const row = await registry.instances.get(id);
  if (row === null) return;
  const owner = { host, term: 1, token: `of ${id}` };
  await registry.instances.begin(id, intent(row), { owner });
  await registry.instances.abandon(id, {}, [entry()], owner);
}

/** Fills a registry with rows of which nearly every filter matches some. */
export async function mix(registry: Registry, rows: number): Promise<void> {
  const roll = dice(7);
  for (let n = 0; n < rows; n += 1) {
    const state = STATES[roll(STATES.length)] ?? 'created';
    const noun = ['atlas', 'Borealis', 'cobalt'][roll(3)];
    const over = {
      tenant: n % 3 === 0 ? 'globex' : 'acme',
      name: n === 7 || n === 9 ? 'atlas 7' : roll(4) === 0 ? null : `${noun} no ${n}`,
      labels: { env: roll(2) === 0 ? 'prod' : 'staging', team: `team-${roll(5)}` },
    };
    const { id } = await makeInstance(registry, `r-${n}`, state, over, START + roll(20));
    if (state === 'deleted') continue;
    if (n % 4 > 0) await given(registry, id, n % 4 === 1 ? 'one' : 'two');
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
