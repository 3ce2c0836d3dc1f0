import { afterEach, expect, test, vi } from 'vitest';
import type { StreamSink } from './answer.ts';
import { callAsStream } from './call-stream.ts';
import type { RouteContext } from './route.ts';

afterEach(() => void vi.useRealTimers());

test('a call that prints nothing sends a comment every 15 s, until it has ended', async () => {
  vi.useFakeTimers();
  const ended = Promise.withResolvers<void>();
  const context = { signal: new AbortController().signal, caller: { requestId: 'r' } } as unknown as RouteContext;
  const answer = await callAsStream(context, async (send) => {
    send('woke', {});
    await ended.promise;
    send('exit', {});
  });
  let text = '';
  const write = (piece: string) => {
    text += piece;
  };
  const sink = { gone: new AbortController().signal, write, end: () => {} };
  (answer.body as { stream: (sink: StreamSink) => void }).stream(sink as unknown as StreamSink);
  expect(text).toBe('event: woke\ndata: {}\n\n');
  await vi.advanceTimersByTimeAsync(14_999);
  expect(text).not.toContain('beat');
  await vi.advanceTimersByTimeAsync(30_001);
  expect(text.match(/^: beat\n\n/gm)).toHaveLength(3);
  ended.resolve();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(text.match(/^: beat\n\n/gm)).toHaveLength(3);
  expect(text.endsWith('event: exit\ndata: {}\n\n')).toBe(true);
});
