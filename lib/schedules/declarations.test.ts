import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Schedule } from '../contract/schema.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import type { PlanComponent, PlanSchedule, PlanWorld, WorkbookPlan } from '../workbooks/types.ts';
import { syncSchedules } from './declarations.ts';

const MIDNIGHT = Date.UTC(2026, 10, 23) / 1000;
const HOUR = 3600;

let server: TestServer & { clock: FakeClock };
beforeEach(async () => {
  server = await startServer({ clock: new FakeClock(MIDNIGHT * 1000), settings: { WB_SCHEDULES_PER_SANDBOX: '3' } });
  await server.call('POST', '/api/instances', { id: 'sb-1', tenant: 'acme' });
});
afterEach(() => server.stop());

const cron = (expression: string): PlanSchedule => ({ cron: expression, timezone: 'Europe/Berlin' });
const repeat = (repeater: string | null): PlanSchedule => ({
  cron: null,
  timezone: null,
  at: MIDNIGHT + HOUR,
  repeat: repeater,
});

/** A plan with a world and one component in it, each with a schedule or none. */
function planOf(world: PlanSchedule | null, component: PlanSchedule | null): WorkbookPlan {
  const common = { lang: 'js', deps: [], uses: [], in: [], out: [], persist: false, src: '' } as const;
  const one = { ...common, name: 'one', path: 'main/one', schedule: component, line: 3 } as unknown as PlanComponent;
  const main: PlanWorld = {
    name: 'main',
    path: 'main',
    schedule: world,
    imports: [],
    exports: [],
    components: [one],
    edges: [],
    workflows: [],
    deps: [],
    line: 1,
  };
  return { worlds: [main] };
}
const sync = (plan: WorkbookPlan | null) =>
  syncSchedules(server.host as never, { id: instanceId('sb-1'), tenant: 'acme' }, plan, systemAudit('request'));
const list = async () => (await server.call<Schedule[]>('GET', '/api/instances/sb-1/schedules')).json;

test('docking adds what the workbook declares, an upgrade changes and removes it, and undocking leaves none', async () => {
  await server.call('POST', '/api/instances/sb-1/schedules', { cron: '5 5 * * *', command: 'true' });
  expect(await sync(planOf(cron('0 3 * * *'), repeat('+1d')))).toBe(true);
  const [mine, world, component] = await list();
  expect(world).toMatchObject({ cron: '0 3 * * *', component: 'main', source: 'workbook', missed: 'skip' });
  expect(world).toMatchObject({ timezone: 'Europe/Berlin', next_at: MIDNIGHT + 2 * HOUR });
  expect(component).toMatchObject({ at: MIDNIGHT + HOUR, repeat: '+1d', component: 'main/one', missed: 'all' });
  const at = `/api/instances/sb-1/schedules/${component?.id}`;
  await server.call('PATCH', at, { paused: true });
  expect(await sync(planOf(cron('0 3 * * *'), repeat('+1d')))).toBe(false);
  expect(await sync(planOf(null, repeat('.+1d')))).toBe(true);
  const [, changed, ...none] = await list();
  expect([changed, none]).toMatchObject([{ id: component?.id, repeat: '.+1d', missed: 'once', paused: true }, []]);
  expect(await sync(null)).toBe(true);
  expect((await list()).map(({ id }) => id)).toEqual([mine?.id]);
  const lines = await server.call<{ reason: string }[]>('GET', '/api/events?type=schedule.synchronised');
  expect(lines.json.map(({ reason }) => reason.slice(0, 31))).toContain('2 added, 0 changed, 0 removed, ');
});

test('a time that has passed at docking is not made up for', async () => {
  server.clock.advance(2 * HOUR);
  await sync(planOf(repeat(null), repeat('++1d')));
  const [once, daily] = await list();
  expect([once?.next_at, daily?.next_at]).toEqual([null, MIDNIGHT + 25 * HOUR]);
});

test('a workbook with more schedules than its sandbox may have changes nothing', async () => {
  for (let n = 0; n < 2; n += 1) {
    await server.call('POST', '/api/instances/sb-1/schedules', { cron: '5 5 * * *', command: 'true' });
  }
  await expect(sync(planOf(cron('0 3 * * *'), cron('0 4 * * *')))).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(await list()).toHaveLength(2);
});
