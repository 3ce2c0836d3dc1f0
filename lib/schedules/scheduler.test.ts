import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { CreateScheduleInput, Schedule, ScheduleRun } from '../contract/schema.ts';
import { startServer, type TestServer } from '../testing/server.ts';

/** 00:00 UTC, a Monday. */
const MIDNIGHT = Date.UTC(2026, 10, 23) / 1000;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

let server: TestServer & { clock: FakeClock };
beforeEach(async () => {
  // A round before a test moves the clock never comes by itself: the clock stands still.
  server = await startServer({ clock: new FakeClock(MIDNIGHT * 1000), settings: { WB_TICK_MS: '60000' } });
  await server.call('POST', '/api/instances', { id: 'sb-1', tenant: 'acme' });
});
afterEach(() => server.stop());

async function schedule(input: CreateScheduleInput, instance = 'sb-1'): Promise<Schedule> {
  const made = await server.call<Schedule>('POST', `/api/instances/${instance}/schedules`, input);
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return made.json;
}
const look = async ({ id, instance }: Schedule): Promise<Schedule> =>
  (await server.call<Schedule>('GET', `/api/instances/${instance}/schedules/${id}`)).json;
const runsOf = async ({ id, instance }: Schedule): Promise<ScheduleRun[]> =>
  (await server.call<ScheduleRun[]>('GET', `/api/instances/${instance}/schedules/${id}/runs`)).json;
const fileOf = async (path: string, instance = 'sb-1'): Promise<string> =>
  (await server.call('GET', `/api/instances/${instance}/volumes/workspace${path}`)).text;

/** Lets `seconds` pass in steps that a running server makes, and fires what falls due. */
async function pass(seconds: number, step = MINUTE): Promise<void> {
  await server.host.scheduler.idle();
  for (let left = seconds; left > 0; left -= step) {
    server.clock.advance(Math.min(step, left));
    await fire();
  }
}
async function fire(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await server.host.scheduler.tick();
    await server.host.scheduler.idle();
  }
}

test('a firing wakes a sleeping sandbox, runs, resets its idle clock, and is in the ledger and its own log', async () => {
  const made = await schedule({ cron: '*/10 * * * *', command: 'date +%s > /dev/null; echo fired >> log; echo shown' });
  expect(made).toMatchObject({ next_at: MIDNIGHT + 10 * MINUTE, timezone: 'UTC', missed: 'skip', source: 'api' });
  await pass(9 * MINUTE);
  expect(await runsOf(made)).toEqual([]);
  await pass(2 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\n');
  const fired = MIDNIGHT + 10 * MINUTE;
  expect(await look(made)).toMatchObject({
    last_result: 'done',
    last_at: fired,
    next_at: MIDNIGHT + 20 * MINUTE,
    failures: 0,
    fault: null,
  });
  expect(await runsOf(made)).toMatchObject([
    { planned_at: fired, missed: false, result: 'done', exit_code: 0, woke: 'cold', actor: `schedule:${made.id}` },
  ]);
  const sandbox = await server.call<{ state: string; updated: number }>('GET', '/api/instances/sb-1');
  expect(sandbox.json).toMatchObject({ state: 'active', updated: fired });
  const events = await server.call<{ type: string; trigger: string; via: string; took_ms: number | null }[]>(
    'GET',
    '/api/events?trigger=schedule',
  );
  expect(events.json.map(({ type }) => type)).toEqual(['schedule.fired', 'transition']);
  expect(events.json[0]).toMatchObject({ via: 'schedule', took_ms: expect.any(Number) });
  const log = await fileOf('/events.org');
  expect(log).toContain(`:SCHEDULE: ${made.id}`);
  expect(log).toContain('shown');
  await pass(10 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\nfired\n');
  expect((await fileOf('/events.org')).match(/^\* /gm)).toHaveLength(2);
});

test('a failing schedule backs off, shows its fault on itself and not on the sandbox, and recovers', async () => {
  const made = await schedule({ cron: '* * * * *', command: 'echo tried >> log; test -e ok' });
  await pass(2 * HOUR);
  const failing = await look(made);
  expect(failing.fault).toBe('The command ended with the exit code 1.');
  expect(failing.last_result).toBe('failed');
  // 10 s, 20 s, 40 s … between attempts that are a minute apart at the least.
  const tries = (await fileOf('/log')).split('\n').length - 1;
  expect(tries).toBe(failing.failures);
  expect(tries).toBeLessThan(14);
  expect(tries).toBeGreaterThan(6);
  expect((await server.call<{ fault: string | null }>('GET', '/api/instances/sb-1')).json.fault).toBeNull();
  await server.call('PUT', '/api/instances/sb-1/volumes/workspace/ok', '');
  await pass(HOUR);
  expect(await look(made)).toMatchObject({ failures: 0, fault: null, last_result: 'done' });
  expect((await look(made)).next_at).toBe(server.clock.now() / 1000 + MINUTE);
});

test('a run has the time that its schedule gives it, and what was due meanwhile leaves one line', async () => {
  for (const wrong of [0, -1, 1.5, 600_001]) {
    const input = { cron: '* * * * *', command: 'true', timeout_ms: wrong };
    expect((await server.call('POST', '/api/instances/sb-1/schedules', input)).status).toBe(422);
  }
  const made = await schedule({ cron: '* * * * *', command: 'sleep 20', timeout_ms: 200 });
  expect(made.timeout_ms).toBe(200);
  await pass(MINUTE);
  expect(await runsOf(made)).toMatchObject([{ result: 'failed', error: 'The command ran out of time.' }]);
  for (let tries = 0; tries < 4; tries += 1) await pass(2 * MINUTE);
  const left = (await runsOf(made)).filter(({ result }) => result === 'skipped');
  expect(left.length).toBeGreaterThan(0);
  expect(left.at(-1)?.error).toMatch(
    /left out, as the run before failed, and the next one waits: (once, at|\d+ times,)/,
  );
  const changed = await server.call<Schedule>('PATCH', `/api/instances/sb-1/schedules/${made.id}`, {
    timeout_ms: null,
    command: 'true',
  });
  expect(changed.json).toMatchObject({ timeout_ms: null, command: 'true' });
});

test('a schedule of an archived sandbox rests, visibly, and goes on when it is revived', async () => {
  const made = await schedule({ cron: '0 * * * *', command: 'echo fired >> log' });
  await server.call('POST', '/api/instances/sb-1/resume', {});
  await server.call('POST', '/api/instances/sb-1/archive', {});
  expect(await look(made)).toMatchObject({ resting: true, next_at: null });
  await pass(3 * HOUR, 30 * MINUTE);
  expect((await server.call<{ state: string }>('GET', '/api/instances/sb-1')).json.state).toBe('archived');
  expect(await runsOf(made)).toEqual([]);
  const refused = await server.call('POST', `/api/instances/sb-1/schedules/${made.id}/run`);
  expect([refused.status, refused.json]).toMatchObject([409, { code: 'archived' }]);
  await server.call('POST', '/api/instances/sb-1/revive', {});
  await fire();
  expect(await look(made)).toMatchObject({ resting: false, next_at: server.clock.now() / 1000 + HOUR });
  await pass(HOUR, 30 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\n');
});

test('a frozen sandbox is woken, and one with a blocking fault is not: the schedule tells why and tries again', async () => {
  const made = await schedule({ cron: '0 * * * *', command: 'echo fired >> log' });
  await server.call('POST', '/api/instances/sb-1/plan', { to: 'active' });
  await server.call('POST', '/api/instances/sb-1/plan', { to: 'frozen' });
  await pass(HOUR, 30 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\n');
  await server.call('POST', '/api/instances/sb-1/suspend', {});
  const row = await server.host.registry.instances.get('sb-1');
  const fault = { fault: 'corrupt', reason: 'spoilt by a test' } as const;
  const line = { ...(await server.host.registry.ledger.page({}, 1)).rows[0], type: 'fault.raised' } as never;
  await server.host.registry.instances.setFault(row?.id ?? '', fault as never, line);
  await pass(HOUR + 5 * MINUTE);
  const stuck = await look(made);
  expect(stuck.failures).toBeGreaterThan(1);
  expect(stuck.fault).toContain('spoilt by a test');
});

test('what was missed is skipped, made up for once, or for each time', async () => {
  const skip = await schedule({ cron: '0 * * * *', command: 'echo >> skip' });
  const once = await schedule({ cron: '0 * * * *', command: 'echo >> once', missed: 'once' });
  const all = await schedule({ cron: '0 * * * *', command: 'echo >> all', missed: 'all' });
  const many = await schedule({ cron: '* * * * *', command: 'echo >> many', missed: 'all' });
  // As if the server had not run for five hours: no round in between, and none under way.
  await fire();
  server.clock.advance(5 * HOUR);
  for (let round = 0; round < 60; round += 1) await fire();
  const lines = async (path: string) => {
    const text = await fileOf(path);
    return text.includes('{') ? 0 : text.length;
  };
  expect(await lines('/skip')).toBe(0);
  const range = 'It was due while the server did not run: 5 times, from 2026-11-23T01:00:00Z to 2026-11-23T05:00:00Z.';
  expect(await runsOf(skip)).toMatchObject([
    { result: 'skipped', missed: true, planned_at: MIDNIGHT + HOUR, error: range },
  ]);
  expect(await lines('/once')).toBe(1);
  expect(await runsOf(once)).toMatchObject([
    { result: 'done', missed: true, planned_at: MIDNIGHT + 5 * HOUR },
    { result: 'skipped', missed: true, error: `${range} One run makes up for them.` },
  ]);
  expect(await lines('/all')).toBe(5);
  expect((await runsOf(all)).map(({ planned_at }) => planned_at)).toEqual(
    [5, 4, 3, 2, 1].map((hour) => MIDNIGHT + hour * HOUR),
  );
  expect(await lines('/many')).toBe(50);
  const [last] = (await runsOf(many)).toReversed();
  expect(last).toMatchObject({
    result: 'skipped',
    error: expect.stringMatching(/before the last 50 are left out, more than 200 times, from 2026-11-23T00:01:00Z to /),
  });
  for (const one of [skip, once, all]) {
    expect((await look(one)).next_at).toBe(server.clock.now() / 1000 + HOUR);
  }
});

test('paused schedules do not fire and miss nothing; run now runs them, and never beside another run', async () => {
  const made = await schedule({
    cron: '0 * * * *',
    command: 'echo fired >> log; sleep 1',
    paused: true,
    missed: 'all',
  });
  expect(made.next_at).toBeNull();
  await pass(3 * HOUR, 30 * MINUTE);
  expect(await runsOf(made)).toEqual([]);
  const at = `/api/instances/sb-1/schedules/${made.id}`;
  const run = await server.call<ScheduleRun>('POST', `${at}/run`);
  expect([run.status, run.json]).toMatchObject([202, { planned_at: null, result: null, actor: 'key:admin' }]);
  const second = await server.call('POST', `${at}/run`);
  expect([second.status, second.json]).toMatchObject([409, { code: 'conflict' }]);
  await server.host.scheduler.idle();
  expect(await runsOf(made)).toMatchObject([{ id: run.json.id, result: 'done' }]);
  expect(await look(made)).toMatchObject({ paused: true, next_at: null, last_result: 'done' });
  const resumed = await server.call<Schedule>('PATCH', at, { paused: false });
  expect(resumed.json.next_at).toBe(server.clock.now() / 1000 + HOUR);
  await pass(HOUR, 30 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\nfired\n');
});

test('times that come while a schedule runs are left out', async () => {
  const made = await schedule({ cron: '* * * * *', command: 'echo begun >> log; sleep 2' });
  server.clock.advance(MINUTE);
  await server.host.scheduler.tick();
  server.clock.advance(MINUTE);
  await server.host.scheduler.tick();
  server.clock.advance(MINUTE + 30);
  await server.host.scheduler.idle();
  expect(await fileOf('/log')).toBe('begun\n');
  expect(await look(made)).toMatchObject({ next_at: MIDNIGHT + 4 * MINUTE });
  expect(await runsOf(made)).toMatchObject([
    { result: 'skipped', planned_at: MIDNIGHT + 2 * MINUTE, error: expect.stringContaining('took as long: 2 times') },
    { result: 'done', planned_at: MIDNIGHT + MINUTE },
  ]);
});

test('a clock set back by minutes fires nothing twice; one set back by a day arms schedules from the new time', async () => {
  const made = await schedule({ cron: '0 * * * *', command: 'echo fired >> log' });
  await pass(HOUR, 30 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\n');
  server.clock.advance(-20 * MINUTE);
  await fire();
  await pass(25 * MINUTE, 5 * MINUTE);
  expect(await fileOf('/log')).toBe('fired\n');
  expect((await look(made)).next_at).toBe(MIDNIGHT + 2 * HOUR);
  server.clock.advance(-DAY);
  await fire();
  expect((await look(made)).next_at).toBe(MIDNIGHT - DAY + 2 * HOUR);
  await pass(HOUR);
  expect(await fileOf('/log')).toBe('fired\nfired\n');
});

test('what is due at one second is spread over the window by id, the first ones aside', async () => {
  const all: Schedule[] = [];
  for (let n = 0; n < 12; n += 1) all.push(await schedule({ cron: '0 12 * * *', command: 'true' }));
  const rows = await Promise.all(all.map(({ id }) => server.host.registry.schedules.get(id)));
  const offsets = rows.map((row) => (row?.fireAt ?? 0) - (row?.nextAt ?? 0));
  expect(offsets.slice(0, 2)).toEqual([0, 0]);
  for (const offset of offsets) expect(offset).toBeLessThan(60);
  expect(new Set(offsets).size).toBeGreaterThan(5);
});

test('a workbook’s schedule may be paused, and nothing else of it changed', async () => {
  const made = await schedule({ cron: '0 * * * *', command: 'true' });
  const row = await server.host.registry.schedules.get(made.id);
  if (row === null) throw new Error('It was not stored.');
  const line = (await server.host.registry.ledger.page({}, 1)).rows[0];
  const declared = { ...row, id: 'sched-declared', source: 'workbook', declaration: 'world:main' } as const;
  const arming = { nextAt: MIDNIGHT + HOUR, notBefore: null, spread: 0, backlogUntil: null };
  await server.host.registry.schedules.add(declared, arming, { perSandbox: 9, perTenant: 9 }, line as never);
  const at = '/api/instances/sb-1/schedules/sched-declared';
  expect((await server.call<Schedule>('PATCH', at, { paused: true })).json).toMatchObject({ paused: true });
  expect((await server.call('PATCH', at, { cron: '1 * * * *' })).status).toBe(409);
  expect((await server.call('DELETE', at)).status).toBe(409);
});

test('wrong timings are refused with what is wrong, and so is one schedule too many', async () => {
  const refused = async (input: unknown) => {
    const { status, text } = await server.call('POST', '/api/instances/sb-1/schedules', input);
    return [status, text] as const;
  };
  for (const [input, words] of [
    [{ cron: '61 * * * *', command: 'true' }, 'minute'],
    [{ cron: '* * *', command: 'true' }, 'cron'],
    [{ cron: '0 0 30 2 *', command: 'true' }, 'never due'],
    [{ cron: '0 0 * * *', timezone: 'Mars/Olympus', command: 'true' }, 'no time zone'],
    [{ cron: '0 0 * * *', at: MIDNIGHT + DAY, command: 'true' }, 'not both'],
    [{ at: MIDNIGHT - 1, command: 'true' }, 'has passed'],
    [{ at: MIDNIGHT + DAY, repeat: 'daily', command: 'true' }, 'repeat'],
    [{ cron: '0 0 * * *' }, 'command'],
    [{ cron: '0 0 * * *', command: 'true', component: 'main/one' }, 'not both'],
  ] as const) {
    expect(await refused(input)).toEqual([422, expect.stringContaining(words)]);
  }
  await server.stop();
  server = await startServer({ clock: new FakeClock(), settings: { WB_SCHEDULES_PER_SANDBOX: '1' } });
  await server.call('POST', '/api/instances', { id: 'sb-1', tenant: 'acme' });
  await schedule({ cron: '0 0 * * *', command: 'true' });
  expect(await refused({ cron: '0 0 * * *', command: 'true' })).toEqual([
    429,
    expect.stringContaining('WB_SCHEDULES_PER_SANDBOX'),
  ]);
});

test('the command and the input are shown to those who may read what the sandbox holds', async () => {
  const made = await schedule({ cron: '0 0 * * *', command: 'echo secret' });
  const key = async (role: string) =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role })).json.key;
  const seen = async (role: string) =>
    (await server.call<Schedule[]>('GET', '/api/instances/sb-1/schedules', undefined, { key: await key(role) }))
      .json[0];
  expect(await seen('viewer')).toMatchObject({ id: made.id, command: null });
  expect(await seen('operator')).toMatchObject({ id: made.id, command: 'echo secret' });
  const { text } = await server.call('GET', '/api/events?limit=500');
  expect(text).not.toContain('echo secret');
});

test('firings beyond the places suspend what firings woke, and never a sandbox that somebody uses', async () => {
  await server.stop();
  const settings = { WB_TICK_MS: '60000', WB_MAX_ACTIVE: '3', WB_SCHEDULE_SPREAD: '0' };
  server = await startServer({ clock: new FakeClock(MIDNIGHT * 1000), settings });
  const all: Schedule[] = [];
  for (const id of ['person', 'a', 'b', 'c']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme' });
    if (id !== 'person') all.push(await schedule({ cron: '0 * * * *', command: 'echo fired > log' }, id));
  }
  await server.call('POST', '/api/instances/person/exec', { command: 'true' });
  await pass(HOUR);
  // What found no place is tried again ten seconds later.
  await pass(30, 10);
  for (const one of all) expect(await look(one)).toMatchObject({ last_result: 'done', failures: 0 });
  const state = async (id: string) => (await server.call('GET', `/api/instances/${id}`)).json.state;
  expect(await state('person')).toBe('active');
  const states = await Promise.all(['a', 'b', 'c'].map(state));
  expect(states.sort()).toEqual(['active', 'suspended', 'suspended']);
  const metrics = (await server.call('GET', '/metrics')).text;
  expect(metrics).toContain('winterdock_schedule_runs_total{result="done"} 3');
  expect(metrics).toContain('winterdock_schedule_lateness_seconds_count 3');
  expect(metrics).toContain('winterdock_schedules{state="armed"} 3');
});

test.each([
  ['skip', 1, 'failed'],
  ['once', 2, 'done'],
] as const)(
  'a stop of the server ends a run; with missed: %s it begins %i times in all',
  async (missed, times, last) => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-schedules-'));
    try {
      const settings = { WB_DRAIN_MS: '200' };
      const first = await startServer({ folder, settings, clock: new FakeClock(MIDNIGHT * 1000) });
      await first.call('POST', '/api/instances', { id: 'sb-1', tenant: 'acme' });
      const command = 'echo begun >> log\ntest "$(grep -c begun log)" = 2 || sleep 30';
      await first.call('POST', '/api/instances/sb-1/schedules', { cron: '0 * * * *', command, missed });
      first.clock.advance(HOUR);
      await first.host.scheduler.tick();
      const log = (one: TestServer) => one.call('GET', '/api/instances/sb-1/volumes/workspace/log');
      await expect.poll(async () => (await log(first)).status).toBe(200);
      await first.stop();
      await server.stop();
      server = await startServer({ folder, settings, clock: new FakeClock((MIDNIGHT + HOUR + 30) * 1000) });
      await fire();
      expect((await log(server)).text).toBe('begun\n'.repeat(times));
      const [stopped] = (await server.call<Schedule[]>('GET', '/api/instances/sb-1/schedules')).json;
      expect(stopped).toMatchObject({ last_result: last, next_at: MIDNIGHT + 2 * HOUR });
      const runs = await runsOf(stopped as Schedule);
      expect(runs.at(-1)).toMatchObject({ result: 'failed', error: expect.stringContaining('server') });
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('the time of a round is written while a schedule is armed, and nothing is written without one', async () => {
  const last = () => server.host.registry.facts.read('schedules:last_round');
  await pass(10 * MINUTE);
  const before = await last();
  await pass(10 * MINUTE);
  expect(await last()).toEqual(before);
  await schedule({ cron: '0 12 * * *', command: 'true' });
  await pass(2 * MINUTE);
  expect(await last()).toBe(MIDNIGHT + 22 * MINUTE);
});
