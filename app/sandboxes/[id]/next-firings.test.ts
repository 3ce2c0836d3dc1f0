import { expect, test } from 'vitest';
import type { Schedule } from '#lib/contract/schema.ts';
import { nextFirings } from './next-firings.ts';

function schedule(more: Partial<Schedule>): Schedule {
  return {
    id: 'sched-1',
    instance: 'one',
    cron: null,
    at: null,
    repeat: null,
    timezone: 'UTC',
    command: 'true',
    component: null,
    timeout_ms: null,
    missed: 'skip',
    paused: false,
    source: 'api',
    next_at: null,
    last_at: null,
    last_result: null,
    last_took_ms: null,
    failures: 0,
    fault: null,
    resting: false,
    created_at: 0,
    ...more,
  };
}

const epoch = (text: string) => Date.parse(text) / 1000;

test('the times of all schedules come soonest first, in the zone of each, across a change of the clocks', () => {
  const nightly = schedule({
    id: 'nightly',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    next_at: epoch('2026-10-24T01:00:00Z'),
  });
  const once = schedule({ id: 'once', next_at: epoch('2026-10-25T12:00:00Z') });
  const paused = schedule({ id: 'paused', cron: '* * * * *', paused: true });
  const times = nextFirings([once, paused, nightly], 4).map(({ at, schedule: { id } }) => [
    id,
    new Date(at * 1000).toISOString(),
  ]);
  expect(times).toEqual([
    ['nightly', '2026-10-24T01:00:00.000Z'],
    ['nightly', '2026-10-25T02:00:00.000Z'],
    ['once', '2026-10-25T12:00:00.000Z'],
    ['nightly', '2026-10-26T02:00:00.000Z'],
  ]);
});
