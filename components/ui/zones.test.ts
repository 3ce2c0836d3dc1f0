import { expect, test } from 'vitest';
import { axisMoment, axisSpan, exactMoment, minuteMoment, secondOfDay, spokenMoment, timeOfDay } from './zones.ts';

const WINTER = Date.UTC(2026, 10, 24, 23, 4, 5) / 1000;
const SUMMER = Date.UTC(2026, 6, 1, 12, 0, 0) / 1000;

test('a moment is said as the clocks of a zone show it, with its distance from UTC', () => {
  expect(exactMoment(0, 'UTC')).toBe('1970-01-01 00:00:00 UTC');
  expect(exactMoment(WINTER, 'Europe/Berlin')).toBe('2026-11-25 00:04:05 UTC+1');
  expect(exactMoment(SUMMER, 'Europe/Berlin')).toBe('2026-07-01 14:00:00 UTC+2');
  expect(exactMoment(WINTER, 'Asia/Kolkata')).toBe('2026-11-25 04:34:05 UTC+5:30');
  expect(exactMoment(WINTER, 'America/St_Johns')).toBe('2026-11-24 19:34:05 UTC-3:30');
  expect(minuteMoment(WINTER + 0.9, 'Asia/Kolkata')).toBe('2026-11-25 04:34 UTC+5:30');
  expect(spokenMoment(WINTER, 'Asia/Kolkata')).toBe('Wed 25 Nov 2026, 04:34 UTC+5:30');
});

test('a zone without a distance is called UTC, by whatever name', () => {
  expect(timeOfDay(43_380, 'UTC')).toBe('12:03 UTC');
  expect(secondOfDay(43_387, 'Africa/Abidjan')).toBe('12:03:07 UTC');
});

test('a span says both distances where the clocks change in it', () => {
  const [before, after] = [Date.UTC(2026, 9, 24, 22) / 1000, Date.UTC(2026, 9, 25, 22) / 1000];
  expect(axisMoment(before, 'Europe/Berlin')).toBe('Sun 25 Oct 00:00');
  expect(axisSpan(before, after, 'Europe/Berlin')).toBe('Sun 25 Oct 00:00 UTC+2 to Sun 25 Oct 23:00 UTC+1');
  expect(axisSpan(before, after, 'UTC')).toBe('Sat 24 Oct 22:00 to Sun 25 Oct 22:00 UTC');
  expect(axisSpan(0, 60, 'UTC', 60)).toBe('Thu 1 Jan 00:00:00 to Thu 1 Jan 00:01:00 UTC');
});
