import { expect, test } from 'vitest';
import { formatMinute, parseMoment } from './moments.ts';

const NOON = Date.UTC(2026, 10, 22, 12) / 1000;

test('a day and a minute mean their first or their last second, in UTC', () => {
  expect(parseMoment('2026-11-22', 'first')).toBe(NOON - 12 * 3600);
  expect(parseMoment('2026-11-22', 'last')).toBe(NOON + 12 * 3600 - 1);
  expect(parseMoment('2026-11-22T12:00', 'first')).toBe(NOON);
  expect(parseMoment('2026-11-22T12:00', 'last')).toBe(NOON + 59);
  expect(parseMoment('2026-11-22 12:00:07Z', 'last')).toBe(NOON + 7);
  expect(parseMoment(String(NOON), 'last')).toBe(NOON);
});

test('a text that is not a moment gives null', () => {
  for (const text of ['yesterday', '2026-02-30', '2026-13-01', '2026-11-22T25:00', '-5', '']) {
    expect(parseMoment(text, 'first'), text).toBeNull();
  }
});

test('a moment in a field is unchanged when the field is sent', () => {
  expect(parseMoment(formatMinute(NOON), 'first')).toBe(NOON);
  expect(parseMoment(formatMinute(NOON + 59), 'last')).toBe(NOON + 59);
});
