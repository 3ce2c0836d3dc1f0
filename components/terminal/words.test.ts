import { expect, test } from 'vitest';
import { waitInWords, wakeInWords } from './words.ts';

test('a run says what it woke, what it continued, and nothing of a process that ran already', () => {
  expect(wakeInWords({ woke: 'hot', from: null, took_ms: 0 })).toBeNull();
  expect(wakeInWords({ woke: 'warm', from: null, took_ms: 1.2 })).toBe('continued it in 1.2 ms');
  expect(wakeInWords({ woke: 'cold', from: 'frozen', took_ms: 34 })).toBe('woke it from frozen in 34 ms');
  expect(wakeInWords({ woke: 'cold', from: 'created', took_ms: 34 })).toBe('woke it for the first time, in 34 ms');
});

test('a wait says what is under way, since when and how it is ended, and shows no control characters', () => {
  const wait = { kind: 'shell', code: 'sleep 300', for_ms: 12_400, others: 0 };
  expect(waitInWords(wait)).toBe(
    'waits behind another shell call, under way for 12 seconds: sleep 300 · Stop, or Ctrl + C, ends the wait',
  );
  const code = `\u001b[2Jprint("${'x'.repeat(80)}")\nmore()`;
  expect(waitInWords({ ...wait, kind: 'python', code, others: 2 })).toBe(
    `waits behind another Python call, under way for 12 seconds, and 2 more: [2Jprint("${'x'.repeat(50)} … · Stop, or Ctrl + C, ends the wait`,
  );
});
