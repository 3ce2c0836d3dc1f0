/** What every registry guarantees of jobs. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import { eachOf } from '../each-of.ts';
import type { ListFilter } from '../instances.ts';
import type { JobResultRow, NewJob, SelectedInstance } from '../jobs.ts';
import type { Registry } from '../registry.ts';
import { entry, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

function job(id: string, over: Partial<NewJob> = {}): NewJob {
  return {
    id,
    verb: 'suspend',
    reason: 'to save',
    labels: null,
    request: { filter: { state: 'active' } },
    includeHeld: false,
    tenants: null,
    actor: 'user:1',
    via: 'console',
    address: '192.0.2.7',
    created: START,
    ...over,
  };
}

const started = entry({ type: 'job.started' });
const result = (position: number, over: Partial<JobResultRow> = {}): JobResultRow => ({
  position,
  outcome: 'done',
  reason: null,
  timeMs: START * 1000,
  ...over,
});

export function jobSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const survey = async (choice: Parameters<PlainIds<Registry>['jobs']['select']>[0]): Promise<SelectedInstance[]> => {
    const found: SelectedInstance[] = [];
    for await (const piece of await registry.jobs.select(choice)) found.push(...piece);
    return found;
  };
  const idsOf = async (filter: ListFilter) => (await survey({ filter })).map(({ id }) => id).sort();

  test('a selection finds what the list finds, for every filter', async () => {
    await makeInstance(registry, 'a', 'active', { name: 'alpha one', labels: { env: 'prod' } });
    await makeInstance(registry, 'b', 'suspended', { tenant: 'globex', name: 'alpha two' });
    await makeInstance(registry, 'c', 'active', { tenant: 'globex', labels: { env: 'prod' } });
    await makeInstance(registry, 'd', 'deleted');
    await makeInstance(registry, 'm', 'created', { vfsPath: ':memory:', ephemeral: true });
    await registry.instances.setFault('c', { fault: 'corrupt', reason: 'broken' }, entry());
    expect(await idsOf({})).toEqual(['a', 'b', 'c', 'm']);
    expect(await idsOf({ state: 'active' })).toEqual(['a', 'c']);
    expect(await idsOf({ tenant: 'globex', notState: 'active' })).toEqual(['b']);
    expect(await idsOf({ label: { key: 'env', value: 'prod' }, tenants: ['acme'] })).toEqual(['a']);
    expect(await idsOf({ text: 'alp', tenants: ['acme', 'globex'] })).toEqual(['a', 'b']);
    expect(await idsOf({ state: 'deleted' })).toEqual(['d']);
    expect(await idsOf({ tenants: [] })).toEqual([]);
    const found = await survey({ filter: {} });
    expect(found.find(({ id }) => id === 'c')).toMatchObject({ state: 'active', fault: 'corrupt', inMemory: false });
    expect(found.find(({ id }) => id === 'm')).toMatchObject({ inMemory: true, ephemeral: true });
  });

  test('unknown ids, and ids of other tenants, are told from the others', async () => {
    await makeInstance(registry, 'a', 'active');
    await makeInstance(registry, 'b', 'active', { tenant: 'globex' });
    const found = await survey({ ids: ['b', 'a', 'x', 'a'], tenants: ['acme'] });
    expect(found.map(({ id, row }) => [id, row > 0])).toEqual([
      ['b', false],
      ['a', true],
      ['x', false],
    ]);
    expect((await survey({ ids: ['b'], tenants: null }))[0]?.row).toBeGreaterThan(0);
  });

  test('a selection keeps its instances and their order, over pages and a restart, whatever happens to the rows', async () => {
    const rows = [];
    for (let n = 0; n < 7; n += 1) rows.push(await makeInstance(registry, `i${n}`, 'active'));
    const numbers = (await survey({ filter: { state: 'active' } })).map(({ row }) => row);
    const many = Uint32Array.from({ length: 2500 }, (_, at) => numbers[at % 7] ?? 0);
    await registry.jobs.add(job('j1'), many, [], started);
    for (const row of rows) await registry.instances.commit(transitionTo(row, 'suspended'));
    const again = await driver.again();
    expect((await again.jobs.running()).map(({ id, chosen }) => [id, chosen])).toEqual([['j1', 2500]]);
    const seen: string[] = [];
    for (let position: number | null = 0; position !== null; ) {
      const open = await again.jobs.open('j1', position);
      for (const item of open.items) seen[item.position] = item.id;
      position = open.next;
    }
    expect(seen).toHaveLength(2500);
    expect(new Set(seen).size).toBe(7);
    expect(seen[7]).toBe(seen[0]);
  });

  test('results are counted once, are read in order and by outcome, and an instance with a result is not open', async () => {
    for (const id of ['a', 'b', 'c']) await makeInstance(registry, id, 'active');
    const found = await survey({ ids: ['a', 'b', 'c'], tenants: null });
    const numbers = Uint32Array.from([...found.map(({ row }) => row), 0]);
    const unknown = result(3, { outcome: 'skipped', reason: 'There is no sandbox "x".' });
    await registry.jobs.add(job('j1', { tenants: ['acme'] }), numbers, [unknown], started);
    await registry.jobs.record('j1', [result(1, { outcome: 'failed', reason: 'busy' })]);
    await registry.jobs.record('j1', [result(1), result(0)]);
    expect(await registry.jobs.get('j1')).toMatchObject({
      state: 'running',
      chosen: 4,
      done: 1,
      failed: 1,
      skipped: 1,
    });
    expect((await registry.jobs.open('j1', 0)).items).toEqual([{ position: 2, id: 'c' }]);
    expect((await registry.jobs.open('j1', 1000)).next).toBeNull();
    const first = await registry.jobs.results('j1', undefined, 2);
    expect(first.rows.map(({ instance, outcome }) => [instance, outcome])).toEqual([
      ['a', 'done'],
      ['b', 'failed'],
    ]);
    const rest = await registry.jobs.results('j1', undefined, 2, first.next ?? '');
    expect(rest).toEqual({ rows: [{ ...unknown, instance: null }], next: null });
    for (const [outcome, n] of [
      ['done', 1],
      ['failed', 1],
      ['skipped', 1],
    ] as const) {
      expect((await registry.jobs.results('j1', outcome, 9)).rows).toHaveLength(n);
    }
  });

  test('a job ends once, with its ledger line, and jobs are listed newest first for the affected tenants', async () => {
    for (const [id, tenants] of [
      ['j1', null],
      ['j2', ['acme']],
      ['j3', ['acme', 'globex']],
    ] as const) {
      await registry.jobs.add(job(id, { tenants }), new Uint32Array(), [], started);
    }
    const ended = entry({ type: 'job.done' });
    expect(await registry.jobs.end('j2', 'done', START + 5, ended)).toBe(true);
    expect(await registry.jobs.end('j2', 'cancelled', START + 6, ended)).toBe(false);
    expect(await registry.jobs.get('j2')).toEqual({
      ...job('j2', { tenants: ['acme'] }),
      state: 'done',
      finished: START + 5,
      chosen: 0,
      done: 0,
      failed: 0,
      skipped: 0,
    });
    expect((await registry.ledger.page({ type: 'job.done' }, 5)).rows).toHaveLength(1);
    const ids = async (filter: Parameters<Registry['jobs']['list']>[0]) =>
      (await registry.jobs.list(filter, 10)).rows.map(({ id }) => id);
    expect(await ids({})).toEqual(['j3', 'j2', 'j1']);
    expect(await ids({ state: 'running' })).toEqual(['j3', 'j1']);
    expect(await ids({ tenants: ['acme'] })).toEqual(['j2']);
    expect(await ids({ tenants: ['globex', 'acme'] })).toEqual(['j3', 'j2']);
    const page = await registry.jobs.list({}, 1);
    expect((await registry.jobs.list({}, 1, page.next ?? '')).rows[0]?.id).toBe('j2');
    expect(await registry.jobs.get('none')).toBeNull();
    await expect(async () => registry.jobs.add(job('j1'), new Uint32Array(), [], started)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('old jobs are removed, a batch at a time, and running ones are not', async () => {
    const a = await makeInstance(registry, 'a', 'active');
    const chosen = Uint32Array.from({ length: 5 }, () => 1);
    const results = [0, 1, 2, 3, 4].map((position) => result(position));
    for (const id of ['old', 'young', 'running']) await registry.jobs.add(job(id), chosen, results, started);
    await registry.jobs.end('old', 'done', START, entry());
    await registry.jobs.end('young', 'done', START + 100, entry());
    expect(await registry.jobs.deleteEndedBefore(START + 50, 3)).toBe(true);
    expect((await registry.jobs.results('old', undefined, 9)).rows).toHaveLength(2);
    expect(await registry.jobs.deleteEndedBefore(START + 50, 3)).toBe(true);
    expect(await registry.jobs.get('old')).toBeNull();
    expect(await registry.jobs.deleteEndedBefore(START + 50, 3)).toBe(false);
    const again = await driver.again();
    expect((await again.jobs.list({}, 9)).rows.map(({ id }) => id)).toEqual(['running', 'young']);
    expect((await again.jobs.results('young', undefined, 9)).rows[0]?.instance).toBe(a.id);
  });

  test('hops are read newest first, of some tenants or of all, up to the limit', async () => {
    await makeInstance(registry, 'a', 'suspended');
    await makeInstance(registry, 'b', 'active', { tenant: 'globex' });
    const hops: string[] = [];
    for await (const { instance, from, to } of eachOf(await registry.ledger.transitions(0, undefined))) {
      if (hops.push(`${instance} ${from} ${to}`) === 2) break;
    }
    expect(hops).toEqual(['b created active', 'a active suspended']);
    const theirs: string[] = [];
    for await (const { instance } of eachOf(await registry.ledger.transitions(0, ['acme']))) theirs.push(instance);
    expect(theirs).toEqual(['a', 'a']);
    for await (const _ of await registry.ledger.transitions((START + 1) * 1000, undefined))
      throw new Error('nothing is that young');
  });
}
