import { expect, test } from 'vitest';
import { ReadWriteLock } from './read-write-lock.ts';

/** Takes the lock at once; `end` releases it. */
function hold(lock: ReadWriteLock, kind: 'read' | 'write', log: string[], name: string) {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const done = lock[kind](async () => {
    log.push(`${name} in`);
    await promise;
    log.push(`${name} out`);
  });
  return { end, done };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('readers share it, a writer has it alone, and they come in the order of arrival', async () => {
  const lock = new ReadWriteLock();
  const log: string[] = [];
  expect(lock.isFree).toBe(true);
  const [a, b] = [hold(lock, 'read', log, 'a'), hold(lock, 'read', log, 'b')];
  const w = hold(lock, 'write', log, 'w');
  const [c, d] = [hold(lock, 'read', log, 'c'), hold(lock, 'read', log, 'd')];
  const v = hold(lock, 'write', log, 'v');
  await settled();
  expect(log.splice(0)).toEqual(['a in', 'b in']);
  a.end();
  await settled();
  expect(log.splice(0)).toEqual(['a out']);
  b.end();
  await settled();
  expect(log.splice(0)).toEqual(['b out', 'w in']);
  w.end();
  await settled();
  expect(log.splice(0)).toEqual(['w out', 'c in', 'd in']);
  expect(lock.isFree).toBe(false);
  d.end();
  c.end();
  await settled();
  expect(log.splice(0)).toEqual(['d out', 'c out', 'v in']);
  v.end();
  await Promise.all([a.done, b.done, c.done, d.done, v.done, w.done]);
  expect(lock.isFree).toBe(true);
});

test('work that fails gives it back', async () => {
  const lock = new ReadWriteLock();
  const fail = () => Promise.reject(new Error('no'));
  await expect(lock.read(fail)).rejects.toThrow('no');
  await expect(lock.write(fail)).rejects.toThrow('no');
  await expect(
    lock.read(() => {
      throw new Error('at once');
    }),
  ).rejects.toThrow('at once');
  expect(lock.isFree).toBe(true);
  expect(await lock.write(async () => 1)).toBe(1);
});

test('at any time there are readers alone or one writer alone, however they come', async () => {
  const lock = new ReadWriteLock();
  let readers = 0;
  let writers = 0;
  let seed = 7;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const work = async (writes: boolean) => {
    if (writes) writers += 1;
    else readers += 1;
    expect(writers === 0 || (writers === 1 && readers === 0)).toBe(true);
    for (let turns = Math.floor(random() * 3); turns > 0; turns -= 1) await settled();
    if (writes) writers -= 1;
    else readers -= 1;
  };
  const all: Promise<void>[] = [];
  for (let n = 0; n < 500; n += 1) {
    const writes = random() < 0.3;
    all.push(lock[writes ? 'write' : 'read'](() => work(writes)));
    if (random() < 0.3) await settled();
  }
  await Promise.all(all);
  expect(lock.isFree).toBe(true);
});
