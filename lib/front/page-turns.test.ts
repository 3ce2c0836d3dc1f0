import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cpuMs } from '../health/loop-watch.ts';
import { PageTurns } from './page-turns.ts';

test('one page begins in each turn of the event loop, and addresses take turns', async () => {
  const turns = new PageTurns();
  const begun: string[] = [];
  const enter = (address: string, page: string) => turns.enter(address).then(() => void begun.push(page));
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('a', 'a4'), enter('b', 'b1')];
  const seen: number[] = [];
  while (begun.length < all.length) {
    await setImmediate();
    seen.push(begun.length);
  }
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  expect(seen.every((count, at) => count - (seen[at - 1] ?? 1) <= 1)).toBe(true);
});

test('an address has a hundred pages that wait, and others are not refused for it', async () => {
  const turns = new PageTurns();
  const waiting = Array.from({ length: 101 }, () => turns.enter('a'));
  await expect(turns.enter('a')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  await Promise.all([...waiting, turns.enter('b')]);
  await turns.enter('a');
});

test('a page costs its share of the processor time that the thread took while it was under way', async () => {
  const turns = new PageTurns();
  const alone = turns.begin();
  const until = cpuMs() + 40;
  while (cpuMs() < until);
  const beside = turns.begin();
  const untilBoth = cpuMs() + 40;
  while (cpuMs() < untilBoth);
  const costs = [alone(), beside()];
  expect(costs[0]).toBeGreaterThanOrEqual(60);
  expect(costs[0]).toBeLessThan(100);
  expect(costs[1]).toBeGreaterThanOrEqual(20);
  expect(costs[1]).toBeLessThan(50);
});
