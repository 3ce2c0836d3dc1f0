import { expect, test } from 'vitest';
import { caveatsOf, parseSimulationQuery } from './simulation.ts';

const PRESENT = { idle_to_suspend_s: 900, idle_to_freeze_s: 86_400 };
const DAY = 86_400;

test('an address gives thresholds and days, and a wrong value is named and left unchanged', () => {
  expect(parseSimulationQuery({}, PRESENT)).toMatchObject({ suspend: 900, freeze: DAY, days: 7, complaints: {} });
  const query = parseSimulationQuery({ suspend: '7 min', freeze: 'never', days: '12' }, PRESENT);
  expect(query).toMatchObject({ suspend: 420, freeze: DAY, days: 7, complaints: { freeze: expect.any(String) } });
  expect(query.curve.filter((threshold) => threshold === 900 || threshold === 420)).toEqual([420, 900]);
  expect(query.curve.toSorted((a, b) => a - b)).toEqual(query.curve);
  expect(query.curve.length).toBeLessThanOrEqual(24);
});

test('a ledger with too little data is reported, one with enough is not', () => {
  const enough = { since: 0, until: 7 * DAY, first: 3600, idle_ends: 400, cut: false };
  expect(caveatsOf(enough, 7)).toEqual([]);
  expect(caveatsOf({ ...enough, idle_ends: 3 }, 7)).toEqual([expect.stringContaining('Only 3 suspensions')]);
  expect(caveatsOf({ ...enough, idle_ends: 0, first: null }, 7)).toEqual([
    expect.stringContaining('nothing to compute'),
  ]);
  expect(caveatsOf({ ...enough, first: 6 * DAY }, 7)).toEqual([expect.stringContaining('only 1 day ago')]);
  expect(caveatsOf({ ...enough, since: 5 * DAY, cut: true }, 7)).toEqual([expect.stringContaining('last 2 days only')]);
});
