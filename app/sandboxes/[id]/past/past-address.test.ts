import { expect, test } from 'vitest';
import { exactTime, filesPageOf, parseTime, pastAddress, pastViewOf } from './past-address.ts';

const LIFE = { from: 1_000_000, to: 1_900_000 };
const searchOf = (address: string) =>
  Object.fromEntries(new URL(address, 'http://dock.test').searchParams.entries()) as Record<string, string>;

test('a time of an address is exact to the millisecond, and a whole second means its end', () => {
  expect([exactTime(1234), exactTime(5000), exactTime(5001)]).toEqual(['1.234', '5.0004', '5.001']);
  expect(['1.234', '5.0004', '7'].map((text) => parseTime(text))).toEqual([1.234, 5.0004, 7]);
  expect(parseTime('2026-11-30T14:05:07')).toBe(Date.UTC(2026, 10, 30, 14, 5, 7) / 1000);
  // A field of a browser leaves out the seconds where they are none.
  expect(parseTime('2026-11-30T14:05')).toBe(Date.UTC(2026, 10, 30, 14, 5, 59) / 1000);
  expect(parseTime('2026-11-30T14:05:07', 'Europe/Berlin')).toBe(Date.UTC(2026, 10, 30, 13, 5, 7) / 1000);
  expect(parseTime('7', 'Europe/Berlin')).toBe(7);
  expect(['yesterday', '-1', '1.23456', '1e9', '', ' ', '1.'].map((text) => parseTime(text))).toEqual(
    new Array(7).fill(null),
  );
});

test('an address is read as the view that made it', () => {
  const search = { at: '1500000.5', to: 'now', begin: '1400000', end: '1600000', volume: 'tmp', path: '/a b/ ' };
  const view = pastViewOf(search, LIFE);
  expect(view).toMatchObject({
    at: { text: '1500000.5', time: 1_500_000.5 },
    to: 'now',
    near: 1_500_000.5,
    volume: 'tmp',
    path: '/a b/ ',
    window: { isWhole: false, shown: { from: 1_400_000, to: 1_600_000 } },
  });
  const address = pastAddress('one', view, { at: view.at?.text ?? null, to: 'now' });
  expect(searchOf(address)).toEqual({ tab: 'past', ...search });
  expect(pastViewOf(searchOf(address), LIFE)).toEqual(view);
});

test('the list is around what was asked for, else around what is open, else at the end of what is drawn', () => {
  const near = (search: Record<string, string>) => pastViewOf(search, LIFE).near;
  expect(near({})).toBe(null);
  expect(near({ at: '1500000' })).toBe(1_500_000);
  expect(near({ at: '1500000', near: '1200000.25' })).toBe(1_200_000.25);
  expect(near({ begin: '1100000', end: '1200000' })).toBe(1_200_000);
  expect(near({ begin: '1100000', end: '1200000', at: '1500000' })).toBe(1_200_000);
  expect(near({ begin: '1100000', end: '1200000', at: '1150000' })).toBe(1_150_000);
  expect(near({ at: 'yesterday' })).toBe(null);
});

test('the files of a moment keep the part of the life that is drawn, and the list', () => {
  const view = pastViewOf({ begin: '1100000', end: '1200000', at: '1150000' }, LIFE);
  expect(filesPageOf('one', view, 1_149_999_000, 1_120_000.5)).toEqual({
    id: 'one',
    at: '1149999.0004',
    keep: { tab: 'past', begin: '1100000', end: '1200000', near: '1120000.5', at: '1149999.0004' },
  });
});
