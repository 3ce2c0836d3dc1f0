import { expect, test } from 'vitest';
import { runInWords, waitInWords, wakeInWords } from './run-words.ts';

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

test('a run says what it does, or how it ended and after how long', () => {
  const run = { state: 'running', exit_code: null, timed_out: false, took_ms: null, reason: null } as const;
  expect(runInWords(run)).toBe('runs');
  expect(runInWords({ ...run, state: 'queued' })).toBe('waits for its turn');
  expect(runInWords({ ...run, state: 'done', exit_code: 3, took_ms: 1200 })).toBe('exit 3 · 1.2 s');
  expect(runInWords({ ...run, state: 'done', exit_code: 124, timed_out: true, took_ms: 60_000 })).toBe(
    'out of time · 60.0 s',
  );
  expect(runInWords({ ...run, state: 'stopped', reason: 'Somebody stopped it.' })).toBe('stopped: Somebody stopped it');
  expect(runInWords({ ...run, state: 'lost' })).toBe('lost');
});
