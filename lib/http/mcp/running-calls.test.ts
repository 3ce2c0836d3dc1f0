import { expect, test } from 'vitest';
import { RunningCalls } from './running-calls.ts';

const name = { actor: 'key:a', session: 's', id: 1 };

test('a call is cancelled by its whole name alone, and forgotten when it ends', () => {
  const calls = new RunningCalls();
  const { signal, end } = calls.begin(name);
  for (const other of [
    { ...name, actor: 'key:b' },
    { ...name, session: 't' },
    { ...name, id: '1' },
    { ...name, id: 2 },
    { actor: 'key:a","s', session: '', id: 1 },
  ]) {
    calls.cancel(other);
    expect(signal.aborted).toBe(false);
  }
  calls.cancel(name);
  expect(signal.aborted).toBe(true);
  end();
  expect(calls.size).toBe(0);
});

test('a call that takes the name of another does not end with it', () => {
  const calls = new RunningCalls();
  const first = calls.begin(name);
  const second = calls.begin(name);
  first.end();
  calls.cancel(name);
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
  second.end();
  expect(calls.size).toBe(0);
});
