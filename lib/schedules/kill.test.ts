import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Schedule, ScheduleRun } from '../contract/schema.ts';
import { programOf } from '../testing/program.ts';
import { startServer } from '../testing/server.ts';
import type { ScheduleStep } from './firing.ts';

const VICTIM = fileURLToPath(new URL('./testing/victim.ts', import.meta.url));
const MIDNIGHT = Date.UTC(2026, 10, 23) / 1000;
const HOUR = 3600;
const POLICIES = ['skip', 'once', 'all'] as const;

let template: string;
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'winterdock-schedules-'));
  for (const missed of POLICIES) {
    const folder = join(template, missed);
    const server = await startServer({ folder, clock: new FakeClock(MIDNIGHT * 1000) });
    await server.call('POST', '/api/instances', { id: 'sb-1', tenant: 'acme' });
    const input = { cron: '0 * * * *', command: 'echo ran >> log', missed };
    expect((await server.call('POST', '/api/instances/sb-1/schedules', input)).status).toBe(201);
    await server.stop();
  }
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** The lines that may be in the log after the kill and the next start, of a run that was due once. */
const RAN: Readonly<Record<ScheduleStep, Readonly<Record<(typeof POLICIES)[number], number>>>> = {
  // Nothing was done yet: at most once does not do it any more.
  'schedule:begun': { skip: 0, once: 1, all: 1 },
  // It was done, and its end is not recorded: at least once does it again.
  'schedule:ran': { skip: 1, once: 2, all: 2 },
  'schedule:recorded': { skip: 1, once: 1, all: 1 },
};

test.each((Object.keys(RAN) as ScheduleStep[]).flatMap((step) => POLICIES.map((missed) => ({ step, missed }))))(
  'killed at $step with missed: $missed, a run is neither doubled nor lost against its policy, and never silently',
  async ({ step, missed }) => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-schedules-'));
    try {
      cpSync(join(template, missed), folder, { recursive: true, preserveTimestamps: true });
      const victim = spawn(process.execPath, [programOf(VICTIM), folder, String(MIDNIGHT + 10), step], {
        stdio: 'inherit',
      });
      expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
      const clock = new FakeClock((MIDNIGHT + HOUR + 10) * 1000);
      const server = await startServer({ folder, clock });
      for (let round = 0; round < 4; round += 1) {
        clock.advance(10);
        await server.host.scheduler.tick();
        await server.host.scheduler.idle();
      }
      const log = await server.call('GET', '/api/instances/sb-1/volumes/workspace/log');
      expect(log.status === 200 ? log.text : '').toBe('ran\n'.repeat(RAN[step][missed]));
      const [schedule] = (await server.call<Schedule[]>('GET', '/api/instances/sb-1/schedules')).json;
      expect(schedule?.next_at).toBe(MIDNIGHT + 2 * HOUR);
      const runs = await server.call<ScheduleRun[]>('GET', `/api/instances/sb-1/schedules/${schedule?.id}/runs`);
      const results = runs.json.map(({ result }) => result);
      if (step === 'schedule:recorded') expect(results).toEqual(['done']);
      else {
        expect(results).toEqual(missed === 'skip' ? ['lost'] : ['done', 'lost']);
        expect(runs.json.at(-1)?.error).toContain('killed');
        const told = await server.call<unknown[]>('GET', '/api/events?type=schedule.failed');
        expect(told.json).toHaveLength(1);
      }
      await server.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.each([
  { missed: 'skip', ran: 0, results: ['skipped', 'lost'] },
  { missed: 'all', ran: 4, results: ['done', 'done', 'done', 'done', 'lost'] },
  { missed: 'once', ran: 1, results: ['done', 'skipped', 'lost'] },
] as const)(
  'killed in a run and away for hours, missed: $missed makes up for that run and for what was due since',
  async ({ missed, ran, results }) => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-schedules-'));
    try {
      cpSync(join(template, missed), folder, { recursive: true, preserveTimestamps: true });
      const victim = spawn(process.execPath, [programOf(VICTIM), folder, String(MIDNIGHT + 10), 'schedule:begun'], {
        stdio: 'inherit',
      });
      expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
      const clock = new FakeClock((MIDNIGHT + 4 * HOUR + 10) * 1000);
      const server = await startServer({ folder, clock });
      for (let round = 0; round < 8; round += 1) {
        clock.advance(10);
        await server.host.scheduler.tick();
        await server.host.scheduler.idle();
      }
      const log = await server.call('GET', '/api/instances/sb-1/volumes/workspace/log');
      const [schedule] = (await server.call<Schedule[]>('GET', '/api/instances/sb-1/schedules')).json;
      const runs = await server.call<ScheduleRun[]>('GET', `/api/instances/sb-1/schedules/${schedule?.id}/runs`);
      expect(runs.json.map(({ result }) => result)).toEqual(results);
      expect(ran === 0 ? log.status : log.text).toBe(ran === 0 ? 404 : 'ran\n'.repeat(ran));
      expect(schedule?.next_at).toBe(MIDNIGHT + 5 * HOUR);
      const [skipped] = runs.json.filter(({ result }) => result === 'skipped');
      if (skipped !== undefined) expect(skipped.error).toMatch(/while the server did not run|or no server ran: /);
      await server.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
