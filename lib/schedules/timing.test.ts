import { expect, test, vi } from 'vitest';
import { nextRepeat, parseRepeater } from './repeater.ts';
import { nextTime, requireTiming, spreadOf, timesBetween } from './timing.ts';

const at = (iso: string) => Date.parse(iso) / 1000;
const iso = (epoch: number | null) => (epoch === null ? null : new Date(epoch * 1000).toISOString().slice(0, 19));
const BERLIN = 'Europe/Berlin';

const cron = (expression: string, timezone = BERLIN) => ({ cron: expression, at: null, repeat: null, timezone });

/** The first `count` times after a time. */
function times(timing: Parameters<typeof nextTime>[0], from: string, count: number): (string | null)[] {
  const found: (string | null)[] = [];
  let after: number | null = at(from);
  for (let n = 0; n < count && after !== null; n += 1) {
    after = nextTime(timing, after);
    found.push(iso(after));
  }
  return found;
}

test('a daily time in an hour that is left out fires after it, and the day after at its own time', () => {
  expect(times(cron('30 2 * * *'), '2027-03-27T12:00:00Z', 2)).toEqual(['2027-03-28T01:00:00', '2027-03-29T00:30:00']);
});

test('a daily time in an hour that comes twice fires once', () => {
  expect(times(cron('30 2 * * *'), '2026-10-24T12:00:00Z', 2)).toEqual(['2026-10-25T00:30:00', '2026-10-26T01:30:00']);
});

test('every half hour goes on through both changes of the clock', () => {
  const spring = times(cron('*/30 * * * *'), '2027-03-28T00:00:00Z', 4);
  expect(spring).toEqual(['2027-03-28T00:30:00', '2027-03-28T01:00:00', '2027-03-28T01:30:00', '2027-03-28T02:00:00']);
  const autumn = times(cron('*/30 * * * *'), '2026-10-25T00:00:00Z', 4);
  expect(autumn).toEqual(['2026-10-25T00:30:00', '2026-10-25T01:00:00', '2026-10-25T01:30:00', '2026-10-25T02:00:00']);
});

test('29 February comes every four years, and seconds are a sixth field in front', () => {
  expect(times(cron('0 0 29 2 *', 'UTC'), '2026-11-23T00:00:00Z', 2)).toEqual([
    '2028-02-29T00:00:00',
    '2032-02-29T00:00:00',
  ]);
  expect(times(cron('*/20 * * * * *', 'UTC'), '2026-11-23T00:00:01Z', 3)).toEqual([
    '2026-11-23T00:00:20',
    '2026-11-23T00:00:40',
    '2026-11-23T00:01:00',
  ]);
});

test('an expression that never matches has no next time, and a wrong one is refused', () => {
  expect(nextTime(cron('0 0 30 2 *'), at('2026-11-23T00:00:00Z'))).toBeNull();
  for (const wrong of ['60 * * * *', '* * * *', '* * * * * * *', 'often', '']) {
    expect(() => requireTiming(cron(wrong))).toThrow(/cron/);
  }
});

const repeat = (text: string, from: string, after: string, zone = BERLIN) => {
  const repeater = parseRepeater(text);
  if (repeater === null) throw new Error(`${text} is no repeater.`);
  return iso(nextRepeat(repeater, at(from), zone, at(after)));
};

test('+ and ++ keep the time of day and the day of the week of their timestamp, through changes of the clock', () => {
  // Noon in Berlin: 11:00 UTC in winter, 10:00 in summer.
  expect(repeat('+1d', '2027-03-27T11:00:00Z', '2027-03-27T11:00:00Z')).toBe('2027-03-28T10:00:00');
  expect(repeat('+1w', '2026-10-19T10:00:00Z', '2026-10-20T00:00:00Z')).toBe('2026-10-26T11:00:00');
  expect(repeat('++1w', '2026-01-05T11:00:00Z', '2026-11-23T12:00:00Z')).toBe('2026-11-30T11:00:00');
  expect(repeat('+2d', '2020-01-01T23:00:00Z', '2026-11-23T00:00:00Z')).toBe('2026-11-23T23:00:00');
});

test('a time that is left out on one day is not lost for the days after it', () => {
  const skipped = repeat('+1d', '2027-03-27T01:30:00Z', '2027-03-27T12:00:00Z');
  expect(skipped).toBe('2027-03-28T01:30:00');
  expect(repeat('+1d', '2027-03-27T01:30:00Z', `${skipped}Z`)).toBe('2027-03-29T00:30:00');
});

test('.+ counts from when it was done: days keep the time of day, hours do not', () => {
  expect(repeat('.+3d', '2026-11-01T08:00:00Z', '2026-11-23T15:20:00Z')).toBe('2026-11-26T08:00:00');
  expect(repeat('.+2h', '2026-11-01T08:00:00Z', '2026-11-23T15:20:00Z')).toBe('2026-11-23T17:20:00');
  expect(repeat('.+1d/3d', '2026-11-01T08:00:00Z', '2026-11-23T15:20:00Z')).toBe('2026-11-24T08:00:00');
});

test('hours count from the timestamp, months and years carry days over that they lack, as org does', () => {
  expect(repeat('+2h', '2026-11-23T00:30:00Z', '2026-11-23T03:00:00Z')).toBe('2026-11-23T04:30:00');
  expect(repeat('+1m', '2027-01-31T12:00:00Z', '2027-02-01T00:00:00Z', 'UTC')).toBe('2027-03-03T12:00:00');
  expect(repeat('+1m', '2027-01-31T12:00:00Z', '2027-03-03T12:00:00Z', 'UTC')).toBe('2027-04-03T12:00:00');
  expect(repeat('+1y', '2028-02-29T12:00:00Z', '2028-03-01T00:00:00Z', 'UTC')).toBe('2029-03-01T12:00:00');
  expect(repeat('+1w', '2027-01-31T12:00:00Z', '2026-01-01T00:00:00Z', 'UTC')).toBe('2027-01-31T12:00:00');
  for (const wrong of ['1d', '+d', '+0d', '+1x', '++', '--1d']) expect(parseRepeater(wrong)).toBeNull();
});

test('months and years from long ago come to the same as one step after the other, and ask the zone a few times', () => {
  for (const [text, first] of [
    ['+1m', '1970-01-31T23:30:00Z'],
    ['+5m', '1969-12-30T11:00:00Z'],
    ['++1y', '1972-02-29T22:30:00Z'],
  ] as const) {
    const repeater = parseRepeater(text);
    if (repeater === null) throw new Error(`${text} is no repeater`);
    let stepwise = at(first);
    while (stepwise <= at('2031-03-05T00:00:00Z')) stepwise = nextRepeat(repeater, at(first), BERLIN, stepwise);
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    expect(iso(nextRepeat(repeater, at(first), BERLIN, at('2031-03-05T00:00:00Z')))).toBe(iso(stepwise));
    expect(asked.mock.calls.length).toBeLessThan(20);
    asked.mockRestore();
  }
});

test('a time without a repeater is due once', () => {
  const once = { cron: null, at: at('2026-11-23T03:00:00Z'), repeat: null, timezone: 'UTC' };
  expect(times(once, '2026-11-23T00:00:00Z', 3)).toEqual(['2026-11-23T03:00:00', null]);
  expect(nextTime(once, once.at)).toBeNull();
});

test('the times of a gap are the last ones, in order', () => {
  const [from, until] = [at('2026-11-22T23:00:00Z'), at('2026-11-23T03:00:00Z')];
  expect(timesBetween(cron('0 * * * *', 'UTC'), from, until, 3).map(iso)).toEqual([
    '2026-11-23T01:00:00',
    '2026-11-23T02:00:00',
    '2026-11-23T03:00:00',
  ]);
  const hourly = { cron: null, at: from, repeat: '+1h', timezone: 'UTC' };
  expect(timesBetween(hourly, from, until, 9).map(iso)).toHaveLength(5);
  expect(timesBetween({ ...hourly, repeat: '.+1h' }, from, until, 9).map(iso)).toEqual(['2026-11-22T23:00:00']);
});

test('the spread is by the id, within the window, and less than half the time to the following firing', () => {
  const next = at('2026-11-24T00:00:00Z');
  const daily = cron('0 0 * * *', 'UTC');
  const offsets = Array.from({ length: 300 }, (_, n) => spreadOf(`sched-${n}`, daily, next, 60));
  expect(offsets).toEqual(Array.from({ length: 300 }, (_, n) => spreadOf(`sched-${n}`, daily, next, 60)));
  expect([Math.min(...offsets), Math.max(...offsets)]).toEqual([0, 59]);
  const often = cron('*/10 * * * * *', 'UTC');
  for (let n = 0; n < 100; n += 1) expect(spreadOf(`sched-${n}`, often, next, 60)).toBeLessThan(5);
  expect(spreadOf('sched-1', daily, next, 0)).toBe(0);
});
