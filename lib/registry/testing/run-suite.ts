/** What every registry guarantees of runs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { NewRunRow, RunConclusion } from '../runs.ts';
import { entry, instance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const LIMITS = { perSandbox: 2, perTenant: 3, keptPerSandbox: 2 };
const DONE: RunConclusion = {
  ending: 'done',
  startedMs: START * 1000 + 5,
  endedMs: START * 1000 + 9,
  exitCode: 3,
  tookMs: 4,
  timedOut: false,
  reason: null,
  woke: 'cold',
  outputBytes: 12,
};

function newRun(id: string, over: Partial<NewRunRow> = {}): NewRunRow {
  return {
    id,
    instance: instanceId('sb-1'),
    tenant: 'acme',
    language: 'shell',
    command: 'echo hello',
    cwd: '/workspace',
    terminal: null,
    createdMs: START * 1000,
    actor: 'key:test',
    ...over,
  };
}

export function runSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
    for (const id of ['sb-1', 'sb-2']) await registry.instances.create(instance(id), START, entry());
  });
  afterEach(() => driver.discard());

  const add = (id: string, of = 'sb-1') => registry.runs.add(newRun(id, { instance: instanceId(of) }), LIMITS);
  const end = (id: string, over: Partial<RunConclusion> = {}) => registry.runs.end(id, { ...DONE, ...over }, []);
  const listed = async (of = 'sb-1') => (await registry.runs.list(of, 10)).rows.map(({ id }) => id);

  test('a run reads back as it began and as it ended, after a restart too, and ends once', async () => {
    const row = await add('a');
    expect(row).toMatchObject({ ...newRun('a'), ending: null, endedMs: null });
    await registry.runs.end('a', DONE, [entry({ type: 'run.stopped' })]);
    await end('a', { ending: 'lost', exitCode: null });
    const again = await driver.again();
    expect(await again.runs.get('sb-1', 'a')).toEqual({ ...newRun('a'), ...DONE });
    expect((await again.ledger.page({ type: 'run.stopped' }, 10)).rows).toHaveLength(1);
    expect(await again.runs.get('sb-1', 'b')).toBeNull();
    expect(await again.runs.get('sb-2', 'a')).toBeNull();
  });

  test('when a run began is there after a restart, and is not changed once it has ended', async () => {
    await add('a');
    await registry.runs.begun('a', START * 1000 + 5);
    const again = await driver.again();
    const [left] = await again.runs.underWay(10);
    expect(left).toMatchObject({ id: 'a', startedMs: START * 1000 + 5, ending: null });
    await again.runs.end('a', { ...DONE, startedMs: 7 }, []);
    await again.runs.begun('a', START * 1000 + 90);
    expect((await again.runs.get('sb-1', 'a'))?.startedMs).toBe(7);
  });

  test('those under way are limited by sandbox and by tenant, and of the ended ones the newest are kept', async () => {
    await add('a');
    await add('b');
    await expect(add('c')).rejects.toMatchObject({ code: 'quota_exceeded', extra: { limit: 2, used: 2 } });
    await add('d', 'sb-2');
    await expect(add('e', 'sb-2')).rejects.toMatchObject({ extra: { quota: 'runs_per_tenant', used: 3 } });
    for (const id of ['a', 'b', 'd']) await end(id);
    for (const id of ['f', 'g', 'h']) {
      await add(id);
      await end(id);
    }
    await add('i');
    expect(await listed()).toEqual(['i', 'h', 'g']);
    expect(await listed('sb-2')).toEqual(['d']);
    expect((await registry.runs.underWay(10)).map(({ id }) => id)).toEqual(['i']);
  });

  test('lists are a page at a time, newest first, and a malformed cursor is refused', async () => {
    for (const id of ['a', 'b', 'c']) {
      await add(id);
      await end(id);
    }
    const first = await registry.runs.list('sb-1', 2);
    expect(first.rows.map(({ id }) => id)).toEqual(['c', 'b']);
    const second = await registry.runs.list('sb-1', 2, first.next ?? '');
    expect([second.rows.map(({ id }) => id), second.next]).toEqual([['a'], null]);
    await expect(registry.runs.list('sb-1', 2, 'garbage')).rejects.toMatchObject({ code: 'validation' });
  });

  test('the runs of a deleted sandbox go with it, and it gets none', async () => {
    await add('a');
    for (const to of ['active', 'archived', 'deleted'] as const) {
      const row = await registry.instances.get('sb-1');
      if (row === null) throw new Error('There is no sb-1.');
      await registry.instances.commit(transitionTo(row, to));
    }
    expect(await registry.runs.get('sb-1', 'a')).toBeNull();
    await expect(add('b')).rejects.toMatchObject({ code: 'gone' });
  });
}
