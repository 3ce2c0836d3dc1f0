import { expect, test } from 'vitest';
import { type Retention, retained } from './retention.ts';

const NONE: Retention = { hourly: 0, daily: 0, weekly: 0, monthly: 0 };
const at = (time: string) => ({ id: time, begunMs: Date.parse(time) });
const keptOf = (times: string[], retention: Partial<Retention>, zone = 'UTC') =>
  [...retained(times.map(at), { ...NONE, ...retention }, zone)].sort();

test('of each of the last hours, days, weeks and months that have one the newest is kept', () => {
  const hours = ['2026-11-28T10:05Z', '2026-11-28T10:35Z', '2026-11-28T11:05Z', '2026-11-28T14:00Z'];
  expect(keptOf(hours, { hourly: 2 })).toEqual(['2026-11-28T11:05Z', '2026-11-28T14:00Z']);
  expect(keptOf(hours, { hourly: 9 })).toEqual(['2026-11-28T10:35Z', '2026-11-28T11:05Z', '2026-11-28T14:00Z']);
  const days = [
    '2026-10-31T12:00Z',
    '2026-11-01T12:00Z',
    '2026-11-22T12:00Z',
    '2026-11-23T12:00Z',
    '2026-11-28T12:00Z',
  ];
  expect(keptOf(days, { daily: 2 })).toEqual(['2026-11-23T12:00Z', '2026-11-28T12:00Z']);
  // Weeks begin on Monday: the 23rd and the 28th are of one, the 22nd is of the one before.
  expect(keptOf(days, { weekly: 2 })).toEqual(['2026-11-22T12:00Z', '2026-11-28T12:00Z']);
  expect(keptOf(days, { monthly: 2 })).toEqual(['2026-10-31T12:00Z', '2026-11-28T12:00Z']);
  expect(keptOf(days, { daily: 1, monthly: 2 })).toEqual(['2026-10-31T12:00Z', '2026-11-28T12:00Z']);
});

test('the newest of all is kept whatever is asked, and days are those of the time zone', () => {
  expect(keptOf(['2026-11-27T12:00Z', '2026-11-28T12:00Z'], {})).toEqual(['2026-11-28T12:00Z']);
  expect(keptOf([], { daily: 5 })).toEqual([]);
  const night = ['2026-11-27T22:30Z', '2026-11-27T23:30Z', '2026-11-28T12:00Z'];
  expect(keptOf(night, { daily: 2 })).toEqual(['2026-11-27T23:30Z', '2026-11-28T12:00Z']);
  expect(keptOf(night, { daily: 2 }, 'Europe/Berlin')).toEqual(['2026-11-27T22:30Z', '2026-11-28T12:00Z']);
});

test('an hour that the clock shows twice is two', () => {
  const twice = ['2026-10-25T00:30Z', '2026-10-25T01:30Z'];
  expect(keptOf(twice, { hourly: 2 }, 'Europe/Berlin')).toEqual(twice);
});
