import { afterEach, expect, test, vi } from 'vitest';
import { ClocksOfOthers, HopClock, WINDOW_MS } from './hop-clock.ts';

let nowMs = 0;
const clock = () => new HopClock(() => nowMs);
afterEach(() => {
  nowMs = 0;
  vi.useRealTimers();
});

test('a request is fresh within one window of when it was sent, either way, and once', () => {
  nowMs = 500_000;
  const asked = clock();
  nowMs += 100_000;
  const at = (atMs: number, nonce: string) => asked.judge({ epoch: asked.epoch, atMs, nonce });
  expect(asked.nowMs).toBe(100_000);
  expect(at(100_000, 'now')).toBe('fresh');
  expect(at(100_000 - WINDOW_MS, 'early')).toBe('fresh');
  expect(at(100_000 + WINDOW_MS, 'late')).toBe('fresh');
  expect(at(100_000 - WINDOW_MS - 1, 'too early')).toBe('stale');
  expect(at(100_000 + WINDOW_MS + 1, 'too late')).toBe('stale');
  expect(at(100_000, 'now')).toBe('replayed');
  expect(at(Number.NaN, 'never')).toBe('stale');
});

test('what was sent to a former start is stale', () => {
  const [former, next] = [clock(), clock()];
  expect(next.judge({ epoch: former.epoch, atMs: 0, nonce: 'one' })).toBe('stale');
  expect(next.judge({ epoch: '', atMs: 0, nonce: 'two' })).toBe('stale');
});

test('a request that is sent again is refused at every moment at which it would be fresh', () => {
  for (let firstMs = -WINDOW_MS; firstMs <= WINDOW_MS; firstMs += WINDOW_MS / 10) {
    nowMs = 0;
    const asked = clock();
    const request = { epoch: asked.epoch, atMs: 10 * WINDOW_MS, nonce: 'the same' };
    nowMs = request.atMs + firstMs;
    expect(asked.judge(request)).toBe('fresh');
    for (; nowMs < request.atMs + 3 * WINDOW_MS; nowMs += WINDOW_MS / 7) {
      // Others keep coming, which is when nonces are dropped.
      asked.judge({ epoch: asked.epoch, atMs: asked.nowMs, nonce: String(nowMs) });
      expect(asked.judge(request)).not.toBe('fresh');
    }
  }
});

test('nonces are kept for as long as they count, and not for ever', () => {
  const asked = clock();
  for (let n = 0; n < 100_000; n += 1) {
    nowMs += 20;
    asked.judge({ epoch: asked.epoch, atMs: asked.nowMs, nonce: String(n) });
  }
  expect(asked.kept).toBeLessThan((4 * WINDOW_MS) / 20 + 10);
  nowMs += 10 * WINDOW_MS;
  asked.judge({ epoch: asked.epoch, atMs: asked.nowMs, nonce: 'last' });
  expect(asked.kept).toBe(1);
});

test('clocks that are set decide nothing: a day that is an hour off on either side leaves everything as it was', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const asked = clock();
  const asking = new ClocksOfOthers(() => nowMs + 77_000);
  asking.learn('one', asked);
  for (const off of [-3_600_000, 3_600_000, 86_400_000]) {
    vi.setSystemTime(Date.now() + off);
    nowMs += 1000;
    const moment = asking.momentAt('one');
    expect(asked.judge({ ...moment, nonce: String(off) })).toBe('fresh');
  }
});

test('a clock that is learnt is the other host’s own, and nothing is known of one that was not asked', () => {
  const asking = new ClocksOfOthers(() => nowMs);
  expect(asking.momentAt('one')).toEqual({ epoch: '', atMs: 0 });
  nowMs = 1000;
  asking.learn('one', { epoch: 'its start', nowMs: 5_000_000 });
  nowMs = 4000;
  expect(asking.momentAt('one')).toEqual({ epoch: 'its start', atMs: 5_003_000 });
});
