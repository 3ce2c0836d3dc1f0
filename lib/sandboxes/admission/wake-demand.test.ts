import { expect, test, vi } from 'vitest';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { busiestMoment, MAX_READY, WakeDemand } from './wake-demand.ts';

const at = stage();

test('the busiest moment is the most wakes within two seconds', () => {
  expect(busiestMoment([])).toBe(0);
  expect(busiestMoment([0, 1000, 1999, 3999, 9000])).toBe(3);
});

test('a burst is remembered for five minutes', async () => {
  const demand = new WakeDemand(at.dock.registry.ledger);
  const now = at.dock.clock.now();
  for (let index = 0; index < 7; index += 1) demand.noteWake(now + index * 100);
  expect(await demand.readyCount(now + 1000, 2)).toBe(7);
  expect(await demand.readyCount(now + 301_000, 2)).toBe(2);
});

test('what woke together a day ago is expected a little before that time today', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) await at.dock.create(id);
  for (const id of ids) await at.dock.sandboxes.resume(id, REQUEST);
  const woke = at.dock.clock.now();
  const countAt = (time: number) => new WakeDemand(at.dock.registry.ledger).readyCount(time, 1);
  const day = 86_400_000;
  expect(await countAt(woke + day - 10 * 60_000)).toBe(4);
  expect(await countAt(woke + 7 * day - 10 * 60_000)).toBe(4);
  expect(await countAt(woke + day - 20 * 60_000)).toBe(1);
  expect(await countAt(woke + day + 20 * 60_000)).toBe(1);
});

test('there are never more ahead of need than the maximum, unless more are asked for', async () => {
  const demand = new WakeDemand(at.dock.registry.ledger);
  const now = at.dock.clock.now();
  for (let index = 0; index < 100; index += 1) demand.noteWake(now);
  expect(await demand.readyCount(now, 2)).toBe(MAX_READY);
  expect(await demand.readyCount(now, 20)).toBe(20);
});

test('the pool keeps more workers started after a burst, and fewer when it is long ago', async () => {
  await at.restart({ environment: { WB_POOL: '1' } });
  const { clock, pool, sandboxes } = at.dock;
  await sandboxes.tick();
  for (const id of ['a', 'b', 'c']) await at.dock.create(id);
  for (const id of ['a', 'b', 'c']) await sandboxes.resume(id, REQUEST);
  await sandboxes.tick();
  await vi.waitFor(() => expect(pool.ready).toBe(3), { timeout: 240_000 });
  clock.advance(600);
  await sandboxes.tick();
  expect(pool.ready).toBe(1);
});
