import { expect, test } from 'vitest';
import { nextTime } from '../schedules/timing.ts';
import { goneBy } from './gone-by.ts';
import { type Retention, retained } from './retention.ts';

const NONE: Retention = { hourly: 0, daily: 0, weekly: 0, monthly: 0 };
const BEGUN = Date.parse('2026-10-24T23:40:00Z') / 1000;

test.each([
  ['15 * * * *', { hourly: 24, daily: 7, weekly: 4, monthly: 6 }],
  ['0 3 * * *', { daily: 14 }],
  ['30 2 * * 1', { weekly: 8, monthly: 2 }],
  ['0 4 1 * *', { hourly: 5, daily: 2 }],
  ['0 3 * * *', {}],
])('a backup of a schedule %s with %o is gone by then, when backups go on', (cron, some) => {
  const keep = { ...NONE, ...some };
  const timezone = 'Europe/Berlin';
  const by = goneBy({ enabled: true, cron, timezone, keep }, BEGUN, BEGUN) ?? 0;
  const all = [{ id: 'it', begunMs: BEGUN * 1000 }];
  let kept = new Set(['it']);
  for (let at: number | null = BEGUN; at !== null && kept.has('it'); ) {
    at = nextTime({ cron, at: null, repeat: null, timezone }, at);
    expect(at ?? by + 1, 'it is there still').toBeLessThanOrEqual(by);
    all.push({ id: String(at), begunMs: (at ?? 0) * 1000 });
    kept = retained(all, keep, timezone);
  }
});

test('without a schedule there is no such time, and one of long ago goes with the next backup', () => {
  const set = { cron: '0 3 * * *', timezone: 'UTC', keep: { ...NONE, daily: 2 } };
  expect(goneBy({ ...set, enabled: false }, BEGUN, BEGUN)).toBeNull();
  const now = BEGUN + 400 * 86_400;
  expect(goneBy({ ...set, enabled: true }, BEGUN, now)).toBe(now + 3 * 86_400);
});
