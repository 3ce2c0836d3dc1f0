import { expect, test } from 'vitest';
import { wakeInWords } from './words.ts';

test('a run says what it woke, what it continued, and nothing of a process that ran already', () => {
  expect(wakeInWords({ woke: 'hot', from: null, took_ms: 0 })).toBeNull();
  expect(wakeInWords({ woke: 'warm', from: null, took_ms: 1.2 })).toBe('continued it in 1.2 ms');
  expect(wakeInWords({ woke: 'cold', from: 'frozen', took_ms: 34 })).toBe('woke it from frozen in 34 ms');
  expect(wakeInWords({ woke: 'cold', from: 'created', took_ms: 34 })).toBe('woke it for the first time, in 34 ms');
});
