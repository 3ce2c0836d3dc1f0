import { expect, test } from 'vitest';
import { moved, ofLength, timeAddress, timeWindowOf } from './time-window.ts';

const life = { from: 1000, to: 101_000 };

test('an address says what is shown and chosen, is cut to the life, and nonsense is left out', () => {
  expect(timeWindowOf({ tab: 'time' }, life)).toEqual({ shown: life, isWhole: true, chosen: null });
  const window = timeWindowOf({ begin: '0', end: '5000', from: '2000', to: '3000' }, life);
  expect(window).toEqual({ shown: { from: 1000, to: 5000 }, isWhole: false, chosen: { from: 2000, to: 3000 } });
  expect(timeAddress('a', window)).toBe('/sandboxes/a?tab=time&begin=1000&end=5000&from=2000&to=3000#parts');
  for (const search of [{ begin: 'x', end: '5' }, { begin: '9', end: '9' }, { begin: '5' }])
    expect(timeWindowOf(search, life).isWhole).toBe(true);
  expect(timeWindowOf({ begin: '999000', end: '9990000' }, life).shown).toEqual({ from: 100_999, to: 101_000 });
});

test('the shown time is made shorter and moved within the life', () => {
  const whole = timeWindowOf({}, life);
  const hour = ofLength(whole, 3600, life);
  expect(hour.shown).toEqual({ from: 97_400, to: 101_000 });
  expect(moved(hour, 1, life)).toBeNull();
  expect(moved(hour, -1, life)?.shown).toEqual({ from: 93_800, to: 97_400 });
  expect(moved(whole, -1, life)).toBeNull();
  expect(ofLength(whole, 10_000_000, life).shown).toEqual(life);
});
