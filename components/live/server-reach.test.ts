import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** When the server was asked, in milliseconds since the test began. */
let asked: number[] = [];
let answer: (address: string) => Promise<Response>;
let begun = 0;

const well = () => Promise.resolve(Response.json({ status: 'ok' }));
const refused = () => Promise.reject(new TypeError('Failed to fetch'));

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  asked = [];
  begun = Date.now();
  answer = well;
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.stubGlobal('fetch', (address: string) => {
    if (address === '/healthz') asked.push(Date.now() - begun);
    return answer(address);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a server that is away is asked at growing, uneven pauses of at most five seconds, until it answers', async () => {
  const { currentReach, noteRefused, probe, suspectServer, untilHere } = await import('./server-reach.ts');
  expect(await probe()).toBe(true);
  expect(currentReach()).toEqual({ is: 'here' });
  answer = refused;
  suspectServer();
  await vi.advanceTimersByTimeAsync(0);
  expect(currentReach()).toEqual({ is: 'away', since: begun, refused: null });
  noteRefused('act');
  await vi.advanceTimersByTimeAsync(60_000);
  // Since when it does not answer stays, and so does what was not done.
  expect(currentReach()).toEqual({ is: 'away', since: begun, refused: 'act' });
  const pauses = asked.slice(2).map((at, n) => at - (asked[n + 1] ?? 0));
  expect(pauses.length).toBeGreaterThan(10);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(5000);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(250);
  expect(new Set(pauses.slice(5)).size).toBeGreaterThan(1);
  const back = untilHere();
  answer = well;
  await vi.advanceTimersByTimeAsync(5000);
  await back;
  expect(currentReach()).toEqual({ is: 'here' });
  const { length } = asked;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.length).toBe(length);
});

test('it is asked at once when the browser has a network again, and when the page is looked at', async () => {
  const { askWhenWoken, currentReach, probe } = await import('./server-reach.ts');
  askWhenWoken();
  const wakes = [
    () => window.dispatchEvent(new Event('online')),
    () => document.dispatchEvent(new Event('visibilitychange')),
  ];
  for (const wake of wakes) {
    answer = refused;
    expect(await probe()).toBe(false);
    answer = well;
    wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(currentReach()).toEqual({ is: 'here' });
  }
});

test('what stands between does not answer for the server, whatever its status', async () => {
  const { currentReach, probe } = await import('./server-reach.ts');
  const pages = [
    () => new Response('<h1>Welcome</h1>'),
    () => new Response('', { status: 502 }),
    () => Response.json({}),
  ];
  for (const page of pages) {
    answer = () => Promise.resolve(page());
    expect(await probe()).toBe(false);
    expect(currentReach().is).toBe('away');
  }
});

test('where a proxy keeps the address of health to itself, the stream or its refusal is an answer', async () => {
  const { currentReach, probe } = await import('./server-reach.ts');
  const streams = [
    new Response(null, { headers: { 'content-type': 'text/event-stream' } }),
    new Response(null, { status: 401, headers: { 'content-type': 'application/problem+json' } }),
  ];
  for (const stream of streams) {
    answer = (address) => Promise.resolve(address === '/healthz' ? new Response('', { status: 404 }) : stream);
    expect(await probe()).toBe(true);
    expect(currentReach()).toEqual({ is: 'here' });
  }
});

test('a page of an older version is so again after the server was away', async () => {
  const { currentReach, noteNewer, noteRefused, probe } = await import('./server-reach.ts');
  noteNewer();
  noteRefused('act');
  expect(currentReach()).toEqual({ is: 'newer', refused: 'act' });
  answer = refused;
  await probe();
  expect(currentReach().is).toBe('away');
  answer = well;
  await probe();
  expect(currentReach()).toEqual({ is: 'newer', refused: null });
});
