/** What every registry guarantees of workbooks. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { NewWorkbookVersion } from '../workbooks.ts';
import { entry, HOSTILE, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const LIMITS = { keep: 3, most: 4 };

function version(id: string, source: string, over: Partial<NewWorkbookVersion> = {}): NewWorkbookVersion {
  return {
    tenant: 'acme',
    id,
    title: null,
    hash: `hash of ${source}`,
    bytes: source.length,
    components: 1,
    problems: 0,
    source,
    plan: '{"worlds":[]}',
    problemList: '[]',
    builder: 1,
    schedules: 0,
    now: START,
    actor: 'key:test',
    ...over,
  };
}

const stored = entry({ type: 'workbook.put', tenant: 'acme' });
const removed = entry({ type: 'workbook.deleted', tenant: 'acme' });

export function workbookSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const put = (...[id, source, over]: Parameters<typeof version>) =>
    registry.workbooks.put(version(id, source, over), LIMITS, stored);
  const lines = async (type: string) => (await registry.ledger.page({ type }, 100)).rows.length;

  test('a workbook reads back complete, with its ledger line, after a restart too', async () => {
    const source = '* a :component:\n';
    const { row, stored: isNew } = await put('etl', source, { title: 'Monthly', components: null, problems: 2 });
    expect(isNew).toBe(true);
    const again = await driver.again();
    expect(await again.workbooks.get('acme', 'etl')).toEqual(row);
    expect(row).toMatchObject({ version: 1, title: 'Monthly', docked: 0, created: START, updatedBy: 'key:test' });
    expect(await again.workbooks.version('acme', 'etl', 1)).toMatchObject({
      source,
      createdBy: 'key:test',
      problems: 2,
    });
    expect(await lines('workbook.put')).toBe(1);
  });

  test('the same source again is the same version, and writes no line', async () => {
    await put('etl', 'one');
    const second = await put('etl', 'one', { now: START + 9 });
    expect([second.stored, second.row.version, second.row.updated]).toEqual([false, 1, START]);
    const third = await put('etl', 'two', { now: START + 9 });
    expect([third.stored, third.created, third.row.version, third.row.updated]).toEqual([true, false, 2, START + 9]);
    expect(await lines('workbook.put')).toBe(2);
  });

  test('a condition that does not hold stores nothing', async () => {
    const conditional = (source: string, condition: Parameters<typeof registry.workbooks.put>[3]) =>
      registry.workbooks.put(version('etl', source), LIMITS, stored, condition);
    await expect(conditional('one', { ifMatch: '*' })).rejects.toMatchObject({ code: 'precondition_failed' });
    await conditional('one', { ifNoneMatch: '*' });
    await expect(conditional('two', { ifNoneMatch: '*' })).rejects.toMatchObject({ code: 'precondition_failed' });
    await conditional('two', { ifMatch: [1] });
    await expect(conditional('three', { ifMatch: [1] })).rejects.toMatchObject({ code: 'precondition_failed' });
    expect((await registry.workbooks.get('acme', 'etl'))?.version).toBe(2);
    expect(await lines('workbook.put')).toBe(2);
  });

  test('old versions go, but not those that a sandbox is docked to', async () => {
    await put('etl', 's1');
    await makeInstance(registry as Registry, 'a', 'created', { workbook: 'etl', workbookVersion: 1 });
    for (const n of [2, 3, 4, 5]) await put('etl', `s${n}`);
    const { rows } = await registry.workbooks.versions('acme', 'etl', 10);
    expect(rows.map((row) => row.version)).toEqual([5, 4, 3, 1]);
    await put('etl', 's6');
    const later = await registry.workbooks.versions('acme', 'etl', 2);
    expect(later.rows.map((row) => row.version)).toEqual([6, 5]);
    const rest = await registry.workbooks.versions('acme', 'etl', 10, later.next ?? '');
    expect([rest.rows.map((row) => row.version), rest.next]).toEqual([[4, 1], null]);
  });

  test('nothing is docked to a version that is gone by then', async () => {
    await put('etl', 'one');
    const docking = { workbook: 'etl', workbookVersion: 2 };
    const gone = { code: 'conflict', message: expect.stringContaining('has no version 2 any more') };
    await expect(makeInstance(registry as Registry, 'a', 'created', docking)).rejects.toMatchObject(gone);
    expect(await registry.instances.get('a')).toBeNull();
    await makeInstance(registry as Registry, 'b', 'created', { workbook: 'etl', workbookVersion: 1 });
    await expect(registry.instances.patch('b', docking, START, entry())).rejects.toMatchObject(gone);
    expect((await registry.instances.get('b'))?.workbookVersion).toBe(1);
  });

  test('the plan of an older builder is replaced, once, and its sandboxes are brought in line', async () => {
    await put('etl', 'one', { builder: 0, plan: null, components: null, problems: 1 });
    await put('etl', 'two', { builder: 0 });
    await makeInstance(registry as Registry, 'a', 'created', { workbook: 'etl', workbookVersion: 2 });
    await registry.schedules.markSynchronised({ id: 'a' as never, workbook: 'etl', workbookVersion: 2 });
    const made = { tenant: 'acme', id: 'etl', version: 2, title: 'Newer', components: 7, problems: 0 };
    const built = { plan: '{"worlds":[1]}', problemList: '[]', builder: 2, schedules: 3 };
    await registry.workbooks.rebuild({ ...made, ...built });
    expect(await registry.workbooks.planOf('acme', 'etl', 2)).toMatchObject({ plan: built.plan, builder: 2 });
    expect(await registry.workbooks.get('acme', 'etl')).toMatchObject({ title: 'Newer', components: 7, version: 2 });
    expect(await registry.schedules.unsynchronised(9)).toEqual(['a']);
    await registry.workbooks.rebuild({ ...made, ...built, builder: 1, title: 'Older' });
    await registry.workbooks.rebuild({ ...made, ...built, version: 9 });
    expect((await registry.workbooks.get('acme', 'etl'))?.title).toBe('Newer');
    await registry.workbooks.rebuild({ ...made, ...built, version: 1, title: 'First' });
    expect(await registry.workbooks.get('acme', 'etl')).toMatchObject({ title: 'Newer', problems: 0 });
    expect((await registry.workbooks.version('acme', 'etl', 1))?.title).toBe('First');
  });

  test('ids are a tenant’s own, and lists are by tenant and id, page by page', async () => {
    for (const [tenant, id] of [
      ['b', 'x'],
      ['a', 'z'],
      ['a', 'x'],
      ['c', 'x'],
    ] as const)
      await put(id, `${tenant}${id}`, { tenant, title: `${tenant} Etl 100%` });
    const named = (rows: { tenant: string; id: string }[]) => rows.map(({ tenant, id }) => `${tenant}/${id}`);
    const first = await registry.workbooks.list({}, 2);
    expect(named(first.rows)).toEqual(['a/x', 'a/z']);
    const second = await registry.workbooks.list({}, 2, first.next ?? '');
    expect([named(second.rows), second.next]).toEqual([['b/x', 'c/x'], null]);
    expect(named((await registry.workbooks.list({ tenant: 'a', text: 'X' }, 9)).rows)).toEqual(['a/x']);
    expect(named((await registry.workbooks.list({ tenants: ['b', 'c'], text: 'ETL 100%' }, 9)).rows)).toEqual([
      'b/x',
      'c/x',
    ]);
    expect(named((await registry.workbooks.list({ tenants: [] }, 9)).rows)).toEqual([]);
    expect(named(await registry.workbooks.ofId('x', ['a', 'c'], 9))).toEqual(['a/x', 'c/x']);
    expect(named(await registry.workbooks.ofId('x', null, 2))).toEqual(['a/x', 'b/x']);
    expect((await registry.workbooks.ofHash('a', 'hash of az'))?.id).toBe('z');
    await expect(registry.workbooks.list({}, 2, 'nonsense')).rejects.toMatchObject({ code: 'validation' });
    for (const text of HOSTILE) await registry.workbooks.list({ text }, 9);
  });

  test('a docked workbook stays, one that nothing is docked to goes with its versions', async () => {
    await put('etl', 'one');
    const row = await makeInstance(registry as Registry, 'a', 'archived', { workbook: 'etl', workbookVersion: 1 });
    expect((await registry.workbooks.get('acme', 'etl'))?.docked).toBe(1);
    await expect(registry.workbooks.remove('acme', 'etl', removed)).rejects.toMatchObject({ code: 'conflict' });
    await registry.instances.commit(transitionTo(row, 'deleted'));
    expect(await registry.workbooks.remove('acme', 'etl', removed)).toBe(true);
    expect(await registry.workbooks.remove('acme', 'etl', removed)).toBe(false);
    expect(await registry.workbooks.version('acme', 'etl', 1)).toBeNull();
    expect(await lines('workbook.deleted')).toBe(1);
  });

  test('a tenant has at most so many workbooks', async () => {
    for (const n of [1, 2, 3, 4]) await put(`w${n}`, `s${n}`);
    await expect(put('w5', 's5')).rejects.toMatchObject({ code: 'quota_exceeded' });
    await put('w4', 'another source');
    await put('w5', 's5', { tenant: 'other' });
  });

  test('forgetting a tenant removes its workbooks and refuses new ones', async () => {
    await put('etl', 'one');
    await put('etl', 'one', { tenant: 'other' });
    expect((await registry.tenantForgettings.holdings('acme', START, 5)).workbooks).toBe(1);
    const forgetting = { job: 'job-1', tenant: 'acme', actor: 'key:test', via: 'api' as const, started: START };
    await registry.tenantForgettings.begin(forgetting, entry({ type: 'tenant.forgetting' }));
    await expect(put('new', 'two')).rejects.toMatchObject({ code: 'conflict' });
    expect(await registry.tenantForgettings.removeRecords('acme')).toMatchObject({ workbooks: 1 });
    expect(await registry.workbooks.version('acme', 'etl', 1)).toBeNull();
    expect(await registry.workbooks.version('other', 'etl', 1)).not.toBeNull();
  });
}
