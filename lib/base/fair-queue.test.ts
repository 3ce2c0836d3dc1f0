import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

test('whoever wants little is served between those of whoever wants much, each in their own order', () => {
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

test('who was served last waits for others, though nothing of theirs was left in the queue', () => {
  const line = new FairQueue<string>();
  line.add('much', 'much 1');
  expect(line.take()).toBe('much 1');
  for (const item of ['much 2', 'much 3']) line.add('much', item);
  line.add('little', 'little 1');
  expect([line.take(), line.take(), line.take()]).toEqual(['little 1', 'much 2', 'much 3']);
});

test('what does not suit is passed over, what comes again goes first, and what gives up or is cleared is gone', () => {
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
