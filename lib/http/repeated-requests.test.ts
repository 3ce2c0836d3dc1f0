import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WinterdockError } from '../base/errors.ts';
import { type Answer, json } from './answer.ts';
import { RepeatedRequests } from './repeated-requests.ts';

const MINUTE_MS = 60_000;
let repeated: RepeatedRequests;
let worked: number;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  repeated = new RepeatedRequests();
  worked = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const send = (
  key: string,
  { sender = 'a', body = {}, size = 1 }: { sender?: string; body?: unknown; size?: number } = {},
) =>
  repeated.answer({ sender, key, method: 'POST', target: '/x', body }, async (): Promise<Answer> => {
    worked += 1;
    return json(200, 'x'.repeat(size));
  });
const isKept = async (key: string, sender = 'a') => {
  const { isRepeated } = await send(key, { sender });
  return isRepeated;
};

test('an answer is kept for ten minutes from its end', async () => {
  await send('1');
  vi.advanceTimersByTime(10 * MINUTE_MS);
  expect(await isKept('1')).toBe(true);
  vi.advanceTimersByTime(1);
  expect([await isKept('1'), worked]).toEqual([false, 2]);
});

test('one who sends much loses their own oldest answers, and nobody else’s', async () => {
  await send('kept', { sender: 'b' });
  for (let at = 0; at < 1001; at += 1) await send(`${at}`);
  expect([await isKept('2'), await isKept('kept', 'b')]).toEqual([true, true]);
  expect(await isKept('0')).toBe(false);
  for (let at = 0; at < 9; at += 1) await send(`large ${at}`, { size: 2 ** 20 });
  expect([await isKept('large 8'), await isKept('large 0'), await isKept('kept', 'b')]).toEqual([true, false, true]);
});

test('many senders have a bound in common, and what is under way is never let go', async () => {
  let end: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    end = resolve;
  });
  const slow = () =>
    repeated.answer({ sender: 'slow', key: '1', method: 'POST', target: '/x', body: {} }, async () => {
      worked += 1;
      await waiting;
      return json(200, 'slow');
    });
  const first = slow();
  for (let at = 0; at < 1002; at += 1) await send('1', { sender: `s${at}` });
  const again = slow();
  end();
  expect([(await first).isRepeated, (await again).isRepeated, worked]).toEqual([false, true, 1003]);
  expect([await isKept('1', 's0'), await isKept('1', 's1001')]).toEqual([false, true]);
});

test('failures are kept, but for those that say that nothing was done', async () => {
  const fail = (key: string, error: unknown) =>
    repeated.answer({ sender: 'a', key, method: 'POST', target: '/x', body: {} }, async () => {
      worked += 1;
      throw error;
    });
  const full = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' });
  for (const [key, error, times] of [
    ['1', new WinterdockError('conflict', 'No.'), 1],
    ['2', new Error('Something else.'), 1],
    ['3', new WinterdockError('capacity', 'Later.', { retryAfterSeconds: 1 }), 2],
    ['4', full, 2],
  ] as const) {
    worked = 0;
    await expect(fail(key, error)).rejects.toBe(error);
    await expect(fail(key, error)).rejects.toBe(error);
    expect([key, worked]).toEqual([key, times]);
  }
});
