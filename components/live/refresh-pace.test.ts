import { expect, test } from 'vitest';
import { RefreshPace } from './refresh-pace.ts';
import type { Urgency } from './refresh-urgency.ts';

/**
 * Simulates refreshes while a line arrives every `everyMs` and a refresh takes `tookMs`. Returns the times of the
 * refreshes.
 */
function renderings(options: { everyMs: number; forMs: number; tookMs: number; urgency?: Urgency }): number[] {
  const { everyMs, forMs, tookMs, urgency = 'now' } = options;
  const pace = new RefreshPace();
  const at: number[] = [];
  let free = 0;
  for (let now = 0; now < forMs + 20_000; now += 10) {
    if (now < forMs && now % everyMs === 0) pace.noteLine(urgency, now);
    if (now < free || pace.wait(now) !== 0) continue;
    at.push(now);
    pace.begin(now);
    free = now + tookMs;
    pace.end(free);
  }
  return at;
}

test('a single line causes a refresh at once', () => {
  expect(renderings({ everyMs: 1e9, forMs: 10, tookMs: 50 })).toEqual([120]);
});

test('nothing is refreshed when no line concerns the page', () => {
  expect(renderings({ everyMs: 10, forMs: 10_000, tookMs: 50, urgency: null })).toEqual([]);
});

test('occasional lines each cause a refresh at once', () => {
  expect(renderings({ everyMs: 5000, forMs: 15_000, tookMs: 50 })).toEqual([120, 5120, 10_120]);
});

test('a flood causes few refreshes, and one more soon after it', () => {
  const at = renderings({ everyMs: 10, forMs: 120_000, tookMs: 50 });
  expect(at.length).toBeLessThan(14);
  expect(at.length).toBeGreaterThan(5);
  const last = at.at(-1) ?? 0;
  expect(last).toBeGreaterThan(120_000);
  expect(last).toBeLessThan(124_000);
});

test('slow but steady lines cause a refresh every few seconds', () => {
  const { length } = renderings({ everyMs: 1000, forMs: 60_000, tookMs: 50 });
  expect(length).toBeGreaterThanOrEqual(18);
  expect(length).toBeLessThanOrEqual(25);
});

test('a refresh that can wait comes after ten seconds, flood or not', () => {
  expect(renderings({ everyMs: 1e9, forMs: 10, tookMs: 50, urgency: 'later' })).toEqual([10_000]);
  expect(renderings({ everyMs: 10, forMs: 60_000, tookMs: 50, urgency: 'later' }).length).toBeLessThanOrEqual(7);
});

test('a slow page is refreshed less often, but not ever less', () => {
  const quick = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 50 }).length;
  const slow = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 900 }).length;
  const slowest = renderings({ everyMs: 2500, forMs: 60_000, tookMs: 3000 }).length;
  expect(slow).toBeLessThan(quick * 0.7);
  expect(slowest).toBeGreaterThan(5);
});
