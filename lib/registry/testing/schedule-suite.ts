/** What every registry guarantees of schedules and their runs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import type { ClaimTicket } from '../claims.ts';
import type { Registry } from '../registry.ts';
import type { NewRun, NewSchedule, ScheduleArming, ScheduledOutcome, ScheduleRow } from '../schedules.ts';
import { entry, instance, intent, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const LIMITS = { perSandbox: 3, perTenant: 5 };
const NOON: ScheduleArming = { nextAt: START + 100, notBefore: null, spread: 7, backlogUntil: null };
const DONE: ScheduledOutcome = { result: 'done', tookMs: 12.5, error: null, exitCode: 0, woke: 'cold' };

function schedule(id: string, over: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id,
    instance: instanceId('sb-1'),
    tenant: 'acme',
    source: 'api',
    declaration: null,
    cron: '0 12 * * *',
    at: null,
    repeat: null,
    timezone: 'Europe/Berlin',
    target: 'command',
    action: 'echo hello',
    input: null,
    timeoutMs: null,
    missed: 'skip',
    paused: false,
    created: START,
    actor: 'key:test',
    ...over,
  };
}

function run(id: string, of: string, over: Partial<NewRun> = {}): NewRun {
  return {
    id,
    schedule: of,
    planned: START + 100,
    missed: false,
    startedMs: START * 1000,
    actor: 'schedule',
    ...over,
  };
}

const CLAIM: ClaimTicket = {
  kind: 'firing',
  work: `a/${START + 100}`,
  host: 'one',
  term: 1,
  token: 'mine',
  lastsMs: 30_000,
};

export function scheduleSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
    await registry.instances.create(instance('sb-1'), START, entry());
    await registry.instances.create(instance('sb-2'), START, entry());
  });
  afterEach(() => driver.discard());

  const add = (id: string, over: Partial<NewSchedule> = {}, arming: ScheduleArming = NOON) =>
    registry.schedules.add(schedule(id, over), arming, LIMITS, entry({ type: 'schedule.created' }));
  const get = async (id: string): Promise<ScheduleRow> => {
    const row = await registry.schedules.get(id);
    if (row === null) throw new Error(`There is no schedule ${id}.`);
    return row;
  };
  const move = async (id: string, to: 'active' | 'archived' | 'deleted') => {
    const row = await registry.instances.get(id);
    if (row === null) throw new Error(`There is no ${id}.`);
    await registry.instances.commit(transitionTo(row, to));
  };
  const due = async (now: number) => (await registry.schedules.due(now, 10)).map(({ id }) => id);

  test('a schedule reads back complete, with its ledger line, after a restart too', async () => {
    const row = await add('a', { input: { n: [1] }, target: 'component', action: 'main/one' });
    expect(row).toMatchObject({ nextAt: START + 100, fireAt: START + 100, run: null, failures: 0, resting: false });
    const again = await driver.again();
    expect(await again.schedules.get('a')).toEqual(row);
    expect((await again.ledger.page({ type: 'schedule.created' }, 10)).rows).toHaveLength(1);
    expect(await again.schedules.get('b')).toBeNull();
    expect(await again.schedules.getOf(row.instance, 'a')).toEqual(row);
    expect(await again.schedules.getOf('sb-9', 'a')).toBeNull();
  });

  test('lists are of one sandbox, oldest first, a page at a time', async () => {
    for (const id of ['c', 'a', 'b']) await add(id);
    await add('of-another', { instance: instanceId('sb-2') });
    const page = await registry.schedules.list(instanceId('sb-1'), 2);
    expect(page.rows.map(({ id }) => id)).toEqual(['c', 'a']);
    const next = await registry.schedules.list(instanceId('sb-1'), 2, page.next ?? undefined);
    expect([next.rows.map(({ id }) => id), next.next]).toEqual([['b'], null]);
  });

  test('neither a sandbox nor a tenant gets more than it may have, and nothing of a refused one is kept', async () => {
    for (const id of ['a', 'b', 'c']) await add(id);
    await expect(add('d')).rejects.toMatchObject({ code: 'quota_exceeded', extra: { limit: 3 } });
    await add('d', { instance: instanceId('sb-2') });
    await add('e', { instance: instanceId('sb-2') });
    await expect(add('f', { instance: instanceId('sb-2') })).rejects.toMatchObject({ extra: { limit: 5 } });
    expect((await registry.ledger.page({ type: 'schedule.created' }, 10)).rows).toHaveLength(5);
  });

  test('what is due comes earliest first, and what is due at a crowded second is spread', async () => {
    await add('first');
    await add('second');
    await add('third');
    await add('early', { instance: instanceId('sb-2') }, { ...NOON, nextAt: START + 50 });
    expect(await registry.schedules.earliest()).toBe(START + 50);
    expect(await due(START + 49)).toEqual([]);
    expect(await due(START + 100)).toEqual(['early', 'first', 'second']);
    expect(await get('third')).toMatchObject({ nextAt: START + 100, fireAt: START + 107 });
    expect(await due(START + 107)).toHaveLength(4);
  });

  test('a run begins once, keeps others out until it has ended, and its end is in the history and the ledger', async () => {
    const row = await add('a');
    expect(await registry.schedules.beginRun(row, run('r-1', 'a'), CLAIM)).toBe(true);
    expect(await registry.schedules.beginRun(row, run('r-2', 'a'), CLAIM)).toBe(false);
    const running = await get('a');
    expect(await registry.schedules.beginRun(running, run('r-2', 'a'), CLAIM)).toBe(false);
    expect(running).toMatchObject({ run: 'r-1', fireAt: null });
    expect(await registry.claims.list()).toEqual([
      { kind: 'firing', work: CLAIM.work, host: 'one', token: 'mine', renewals: 0 },
    ]);
    expect(await due(START + 999)).toEqual([]);
    const interrupted = await (await driver.again()).schedules.interrupted();
    expect(interrupted).toMatchObject([{ schedule: { id: 'a' }, run: { id: 'r-1', result: null } }]);

    const outcome = { ...DONE, at: START + 101, failures: 0, fault: null };
    const next = { ...NOON, nextAt: START + 200 };
    const line = entry({ type: 'schedule.fired' });
    expect(await registry.schedules.endRun(row, 'r-1', outcome, next, line, CLAIM)).toBe('changed');
    expect(await registry.schedules.endRun(running, 'r-1', outcome, next, line, { ...CLAIM, token: 'another' })).toBe(
      'lost',
    );
    expect(await get('a')).toEqual(running);
    expect(await registry.schedules.endRun(running, 'r-1', outcome, next, line, CLAIM)).toBe('ended');
    expect(await registry.claims.list()).toEqual([]);
    expect(await get('a')).toMatchObject({ run: null, nextAt: START + 200, lastAt: START + 101, lastResult: 'done' });
    expect((await registry.schedules.runs('a', 10)).rows).toEqual([{ ...run('r-1', 'a'), ...DONE }]);
    expect((await registry.ledger.page({ type: 'schedule.fired' }, 10)).rows).toHaveLength(1);
  });

  test('those that failed several times one after another are listed, until one of their runs is done', async () => {
    const fire = async (id: string, failures: number) => {
      const begun = await get(id);
      const work = { ...CLAIM, work: `${id}/${failures}` };
      expect(await registry.schedules.beginRun(begun, run(`r-${id}-${failures}`, id), work)).toBe(true);
      const outcome = { ...DONE, result: failures === 0 ? ('done' as const) : ('failed' as const), failures };
      const ended = { ...outcome, at: START + 101, fault: null };
      const next = { ...NOON, nextAt: START + 200 };
      const running = await get(id);
      expect(await registry.schedules.endRun(running, `r-${id}-${failures}`, ended, next, entry(), work)).toBe('ended');
    };
    const failing = async (least: number) => (await registry.schedules.failing(least, 10)).map(({ id }) => id);
    for (const id of ['a', 'b', 'c']) await add(id);
    for (const [id, failures] of [
      ['a', 1],
      ['b', 1],
      ['b', 2],
    ] as const)
      await fire(id, failures);
    expect([await failing(1), await failing(2)]).toEqual([['b', 'a'], ['b']]);
    expect(await registry.schedules.failing(1, 1)).toMatchObject([{ id: 'b', failures: 2 }]);
    await fire('b', 0);
    expect(await failing(1)).toEqual(['a']);
  });

  test('a firing that somebody has claimed does not begin, and nothing of it is written', async () => {
    const row = await add('a');
    expect(await registry.claims.acquire({ ...CLAIM, host: 'two', token: 'another' })).toBe(true);
    expect(await registry.schedules.beginRun(row, run('r-1', 'a'), CLAIM)).toBe(false);
    expect(await get('a')).toEqual(row);
    expect((await registry.schedules.runs('a', 10)).rows).toEqual([]);
    await registry.claims.release(['another']);
    expect(await registry.schedules.beginRun(row, run('r-1', 'a'), CLAIM)).toBe(true);
  });

  test('a host is not asked to fire what is due in a sandbox that is another host’s', async () => {
    await makeInstance(registry, 'here', 'suspended');
    const there = await makeInstance(registry, 'there', 'suspended');
    await registry.instances.begin('there', intent(there), { owner: { host: 'two', term: 1, token: 'of two' } });
    await add('a', { instance: instanceId('here') }, { ...NOON, nextAt: START + 90 });
    await add('b', { instance: instanceId('there') }, { ...NOON, nextAt: START + 80 });
    const dueOn = async (host?: string) => (await registry.schedules.due(START + 100, 10, host)).map(({ id }) => id);
    expect([await dueOn(), await dueOn('one'), await dueOn('two')]).toEqual([['b', 'a'], ['a'], ['b', 'a']]);
    expect([await registry.schedules.earliest('one'), await registry.schedules.earliest()]).toEqual([
      START + 90,
      START + 80,
    ]);
  });

  test('an edit and a firing never overwrite each other', async () => {
    const row = await add('a');
    const line = entry({ type: 'schedule.changed' });
    expect(await registry.schedules.change(row, { action: 'true' }, null, line)).toMatchObject({ action: 'true' });
    expect(await registry.schedules.beginRun(row, run('r-1', 'a'), CLAIM)).toBe(false);
    expect(await registry.schedules.arm(row, NOON)).toBe(false);
    expect(await registry.schedules.change(row, { action: 'false' }, null, line)).toBeNull();
    expect(await registry.schedules.passOver(row, { ...run('r-1', 'a'), error: 'x' }, NOON, line)).toBe(false);
    const paused = await registry.schedules.change(await get('a'), { paused: true }, NOON, line);
    expect(paused).toMatchObject({ paused: true, nextAt: null, fireAt: null, action: 'true' });
    expect((await registry.ledger.page({ type: 'schedule.changed' }, 10)).rows).toHaveLength(2);
  });

  test('a hundred runs are kept, the newest first', async () => {
    let row = await add('a');
    for (let n = 0; n < 104; n += 1) {
      const passed = { ...run(`r-${n}`, 'a'), error: 'The server did not run.' };
      await registry.schedules.passOver(row, passed, NOON, entry());
      row = await get('a');
    }
    const page = await registry.schedules.runs('a', 99);
    expect(page.rows[0]).toMatchObject({ id: 'r-103', result: 'skipped', error: 'The server did not run.' });
    const rest = await registry.schedules.runs('a', 99, page.next ?? undefined);
    expect([page.rows.length, rest.rows.map(({ id }) => id)]).toEqual([99, ['r-4']]);
  });

  test('schedules of an archived sandbox rest, are armed anew when it comes back, and go when it is deleted', async () => {
    await add('a');
    await add('paused', { paused: true });
    await add('b', { instance: instanceId('sb-2') });
    await move('sb-1', 'active');
    await move('sb-1', 'archived');
    expect(await get('a')).toMatchObject({ resting: true, nextAt: null, fireAt: null });
    expect(await add('c')).toMatchObject({ resting: true, nextAt: null });
    expect(await registry.schedules.counts(START)).toEqual({ armed: 1, due: 0, running: 0, failing: 0, resting: 3 });
    await move('sb-1', 'active');
    expect(await get('a')).toMatchObject({ resting: false, fireAt: 0 });
    expect(await get('paused')).toMatchObject({ resting: false, fireAt: null });
    await move('sb-1', 'archived');
    await registry.schedules.passOver(await get('b'), { ...run('r-b', 'b'), error: 'x' }, NOON, entry());
    await move('sb-1', 'deleted');
    expect(await registry.schedules.get('a')).toBeNull();
    expect((await registry.schedules.list(instanceId('sb-1'), 10)).rows).toEqual([]);
    expect((await registry.schedules.runs('b', 10)).rows).toHaveLength(1);
    await registry.schedules.remove('b', entry());
    expect((await registry.schedules.runs('b', 10)).rows).toEqual([]);
    expect(await registry.schedules.remove('b', entry())).toBe(false);
  });

  test('the declarations of a workbook are synchronised as a whole or not at all', async () => {
    const declared = (id: string, declaration: string) => ({
      schedule: schedule(id, { source: 'workbook', declaration }),
      arming: NOON,
    });
    const add = [declared('a', 'main cron'), declared('b', 'main at')];
    await registry.schedules.synchronise({ add, change: [], remove: [] }, LIMITS, entry({ type: 'schedule.synced' }));
    const [a, b] = await registry.schedules.declared(instanceId('sb-1'));
    if (a === undefined || b === undefined) throw new Error('They were not added.');
    const more = [declared('c', 'x'), declared('d', 'y'), declared('e', 'z')];
    await expect(
      registry.schedules.synchronise({ add: more, change: [], remove: ['a'] }, LIMITS, entry()),
    ).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await registry.schedules.get('a')).toEqual(a);
    const change = [{ read: b, patch: { cron: '5 5 * * *' }, arming: { ...NOON, nextAt: START + 55 } }];
    await registry.schedules.synchronise({ add: [], change, remove: ['a'] }, LIMITS, entry());
    expect(await registry.schedules.declared(instanceId('sb-1'))).toMatchObject([{ id: 'b', nextAt: START + 55 }]);
  });
}
