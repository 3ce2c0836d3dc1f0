/** Threads that answer calls: each answer comes to its own call, errors as they are, and an end is told to all. */
import { afterEach, expect, test, vi } from 'vitest';
import { CallThread } from './call-thread.ts';
import type { EchoTask } from './testing/echo-thread.ts';

const ENTRY = new URL('./testing/echo-thread.ts', import.meta.url);
let thread: CallThread<EchoTask>;
const begin = (keepMs?: number) => {
  thread = new CallThread(ENTRY, { name: 'The echo', ...(keepMs === undefined ? {} : { keepMs }) });
};
afterEach(() => thread.end());

test('answers that come in another order are each told to who asked', async () => {
  begin();
  const asked = [30, 10, 20, 0].map((afterMs) => thread.ask({ echo: `after ${afterMs}`, afterMs }));
  expect(await Promise.all(asked)).toEqual(['after 30', 'after 10', 'after 20', 'after 0']);
});

test('errors of the contract come as they are, of the system with their code, and others without their words', async () => {
  begin();
  await expect(thread.ask({ fails: 'own' })).rejects.toMatchObject({ code: 'moment_gone', extra: { oldest: 7 } });
  await expect(thread.ask({ fails: 'system' })).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  await expect(thread.ask({ fails: 'other' })).rejects.toMatchObject({ code: 'internal', message: 'The echo failed.' });
});

test('what is called off is told so, before it was asked or while it waits', async () => {
  begin();
  expect(await thread.ask({ waits: true }, AbortSignal.abort())).toBe('called off');
  const calling = new AbortController();
  const waiting = thread.ask({ waits: true }, calling.signal);
  expect(await thread.ask({ echo: 'meanwhile' })).toBe('meanwhile');
  calling.abort();
  expect(await waiting).toBe('called off');
});

test('a thread that ends is told to all who wait, and the next call begins another one', async () => {
  begin();
  const waiting = thread.ask({ waits: true });
  const refused = expect(waiting).rejects.toThrow('The echo ended.');
  await expect(thread.ask({ exits: 3 })).rejects.toThrow('The echo ended.');
  await refused;
  expect(await thread.ask({ echo: 'again' })).toBe('again');
});

test('what is asked while an earlier thread is ending is answered by the next one', async () => {
  begin();
  await thread.ask({ echo: 'first' });
  const ending = thread.end();
  expect(await thread.ask({ echo: 'second' })).toBe('second');
  await ending;
  expect(await thread.ask({ echo: 'third' })).toBe('third');
});

test('a thread that nobody asked for a while ends, and never while something is asked', async () => {
  begin(1);
  for (let round = 0; round < 3; round += 1) {
    expect(await thread.ask({ echo: `${round}`, afterMs: 20 })).toBe(`${round}`);
    await vi.waitFor(() => expect(thread.isRunning).toBe(false), { timeout: 240_000 });
  }
});
