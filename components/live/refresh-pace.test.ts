import { expect, test } from 'vitest';
import { RefreshPace } from './refresh-pace.ts';
import type { Urgency } from './refresh-urgency.ts';

/**
 * Renders as the pace wants while lines come every `everyMs`. A rendering takes `tookMs`. Returns when it was rendered.
 */
function renderings(options: { everyMs: number; forMs: number; tookMs: number; urgency?: Urgency }): number[] {
  const { everyMs, forMs, tookMs, urgency = 'now' } = options;
  const pace = new RefreshPace();
  const at: number[] = [];
  let free = 0;
  for (let now = 0; now < forMs + 20_000; now += 10) {
    if (now < forMs && now % everyMs === 0) pace.hear(urgency, now);
    if (now < free || pace.wait(now) !== 0) continue;
    at.push(now);
    pace.begin(now);
    free = now + tookMs;
    pace.end(free);
  }
  return at;
}

test('a lone line is followed at once', () => {
  expect(renderings({ everyMs: 1e9, forMs: 10, tookMs: 50 })).toEqual([120]);
});

test('nothing is rendered when nothing concerns the page', () => {
  expect(renderings({ everyMs: 10, forMs: 10_000, tookMs: 50, urgency: null })).toEqual([]);
});

test('a line in a while is followed at once each time', () => {
  expect(renderings({ everyMs: 5000, forMs: 15_000, tookMs: 50 })).toEqual([120, 5120, 10_120]);
});

test('a flood is followed seldom, and once more soon after it is over', () => {
  const at = renderings({ everyMs: 10, forMs: 120_000, tookMs: 50 });
  expect(at.length).toBeLessThan(14);
  expect(at.length).toBeGreaterThan(5);
  const last = at.at(-1) ?? 0;
  expect(last).toBeGreaterThan(120_000);
  expect(last).toBeLessThan(124_000);
});

test('lines that keep coming slowly are followed every few seconds', () => {
  const { length } = renderings({ everyMs: 1000, forMs: 60_000, tookMs: 50 });
  expect(length).toBeGreaterThanOrEqual(18);
  expect(length).toBeLessThanOrEqual(25);
});

test('what can wait is followed after ten seconds, flood or not', () => {
  expect(renderings({ everyMs: 1e9, forMs: 10, tookMs: 50, urgency: 'later' })).toEqual([10_000]);
  expect(renderings({ everyMs: 10, forMs: 60_000, tookMs: 50, urgency: 'later' }).length).toBeLessThanOrEqual(7);
});

test('a page that takes long to render is rendered more seldom, but not seldom without end', () => {
  const quick = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 50 }).length;
  const slow = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 900 }).length;
  const slowest = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 3000 }).length;
  expect(slow).toBeLessThan(quick * 0.7);
  expect(slowest).toBeGreaterThan(5);
});
