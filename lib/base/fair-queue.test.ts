import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

test('an owner of few items is served between those of an owner of many, each in its own order', () => {
  const line = new FairQueue<string>();
  for (const item of ['much 1', 'much 2', 'much 3', 'much 4']) line.add('much', item);
  expect(line.take()).toBe('much 1');
  line.add('little', 'little 1');
  line.add('other', 'other 1');
  line.add('little', 'little 2');
  expect([line.length, line.lengthOf('much'), line.lengthOf('little')]).toEqual([6, 3, 2]);
  const served = Array.from({ length: 6 }, () => line.take());
  expect(served).toEqual(['little 1', 'other 1', 'much 2', 'little 2', 'much 3', 'much 4']);
  expect(line.take()).toBeUndefined();
});

test('the owner served last waits for the others, even when none of its items was left in the queue', () => {
  const line = new FairQueue<string>();
  line.add('much', 'much 1');
  expect(line.take()).toBe('much 1');
  for (const item of ['much 2', 'much 3']) line.add('much', item);
  line.add('little', 'little 1');
  expect([line.take(), line.take(), line.take()]).toEqual(['little 1', 'much 2', 'much 3']);
});

test('an unsuitable item is skipped, a returned one goes first, and a withdrawn or cleared one is gone', () => {
  const line = new FairQueue<string>();
  for (const item of ['slow', 'quick', 'last']) line.add('one', item);
  expect(line.take((item) => item !== 'slow')).toBe('quick');
  line.add('one', 'quick', { again: true });
  expect(line.take()).toBe('quick');
  line.remove('slow');
  line.remove('never there');
  expect(line.clear()).toEqual(['last']);
  expect(line.length).toBe(0);
});
