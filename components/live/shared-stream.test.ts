import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Event } from '#lib/contract/schema.ts';
import { openSharedStream } from './shared-stream.ts';
import type { StreamStatus } from './stream.ts';

/** Connections to a scripted server. Locks and channels are the real ones of this process. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static opened: Source[] = [];
  readonly url: URL;
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: ((event: globalThis.Event) => void) | null = null;

  constructor(address: string) {
    super();
    this.url = new URL(address, 'http://console.invalid');
    Source.opened.push(this);
  }

  /** The connections that are not closed. */
  static get open(): Source[] {
    return Source.opened.filter(({ readyState }) => readyState !== Source.CLOSED);
  }

  accept(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  say(name: string, data: unknown): void {
    const message = new MessageEvent(name, { data: JSON.stringify(data) });
    if (name === 'error') this.onerror?.(message);
    else this.dispatchEvent(message);
  }

  /** The connection breaks; the browser retries by itself. */
  breaks(): void {
    this.readyState = 0;
    this.onerror?.(new globalThis.Event('error'));
  }

  /** The server refuses; the browser does not retry. */
  refused(): void {
    this.readyState = Source.CLOSED;
    this.onerror?.(new globalThis.Event('error'));
  }

  close(): void {
    this.readyState = Source.CLOSED;
  }
}

const leaving: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  vi.stubGlobal('document', page);
  vi.stubGlobal('window', Object.assign(new EventTarget(), { BroadcastChannel }));
  vi.stubGlobal('EventSource', Source);
  Source.opened = [];
});
afterEach(() => {
  for (const leave of leaving.splice(0)) leave();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const line = (seq: number): Event => ({ seq }) as Event;

/** A tab of the browser. */
function tab(from = 0) {
  const received: number[] = [];
  const statuses: StreamStatus[] = [];
  let gaps = 0;
  const leave = openSharedStream(from, {
    onEvents: (events) => received.push(...events.map(({ seq }) => seq)),
    onChanges: () => undefined,
    onStatus: (status) => statuses.push(status),
    onGap: () => {
      gaps += 1;
    },
  });
  leaving.push(leave);
  return { received, leave, gaps: () => gaps, status: () => statuses.at(-1)?.is };
}

/** The one open connection, accepted. */
async function connected(): Promise<Source> {
  await soon(() => expect(Source.open.length).toBe(1));
  const [source] = Source.open;
  source?.accept();
  return source as Source;
}

/** Waits until a check holds. A busy machine takes its time. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 240_000 });

test('eight tabs share one connection, and each gets every line once', async () => {
  const tabs = Array.from({ length: 8 }, () => tab());
  const source = await connected();
  for (const seq of [1, 2, 2, 1, 3]) source.say('message', line(seq));
  for (const { received, status } of tabs) {
    await soon(() => expect(received).toEqual([1, 2, 3]));
    await soon(() => expect(status()).toBe('live'));
  }
  expect(Source.opened.length).toBe(1);
});

test('when the tab with the connection closes, another takes over after the last line that it saw', async () => {
  const [first, second, third] = [tab(), tab(), tab()];
  const source = await connected();
  source.say('message', line(7));
  await soon(() => expect(third.received).toEqual([7]));
  first.leave();
  await soon(() => expect(source.readyState).toBe(Source.CLOSED));
  const next = await connected();
  expect(next.url.searchParams.get('last_event_id')).toBe('7');
  next.say('message', line(8));
  for (const { received } of [second, third]) await soon(() => expect(received).toEqual([7, 8]));
  expect(first.received).toEqual([7]);
});

test('a tab that hangs loses the connection to another', async () => {
  // By hand: a spy on a timer that is faked itself puts the fake back when the clock is real again.
  const { setInterval } = globalThis;
  globalThis.setInterval = (() => undefined) as unknown as typeof setInterval;
  const hung = tab();
  globalThis.setInterval = setInterval;
  const source = await connected();
  const second = tab();
  await soon(() => expect(second.status()).toBe('live'));
  await vi.advanceTimersByTimeAsync(31_000);
  expect(second.status()).toBe('behind');
  await soon(() => expect(source.readyState).toBe(Source.CLOSED));
  const next = await connected();
  next.say('message', line(1));
  for (const { received, status } of [hung, second]) {
    await soon(() => expect(received).toEqual([1]));
    await soon(() => expect(status()).toBe('live'));
  }
});

test('a silent connection is reported as behind and replaced; one with heartbeats is not', async () => {
  const { status, gaps } = tab(5);
  const source = await connected();
  for (let beats = 0; beats < 4; beats += 1) {
    await vi.advanceTimersByTimeAsync(15_000);
    source.say('beat', { seq: 9 });
  }
  expect(status()).toBe('live');
  await vi.advanceTimersByTimeAsync(25_000);
  expect(status()).toBe('behind');
  expect(source.readyState).toBe(Source.CLOSED);
  const next = await connected();
  expect(next.url.searchParams.get('last_event_id')).toBe('9');
  expect(status()).toBe('live');
  expect(gaps()).toBe(1);
});

test('a gap is reported to every tab, and later lines still arrive, from another ledger too', async () => {
  const tabs = [tab(1000), tab(1000)];
  const source = await connected();
  source.say('gap', { seq: 20 });
  source.say('message', line(21));
  for (const { received, gaps } of tabs) {
    await soon(() => expect(received).toEqual([21]));
    expect(gaps()).toBe(1);
  }
});

test('when the session has ended every tab is informed and none retries until the next sign-in', async () => {
  const fetchSpy = vi.fn();
  vi.stubGlobal('fetch', fetchSpy);
  const tabs = [tab(), tab(), tab()];
  const source = await connected();
  await soon(() => expect(tabs[2]?.status()).toBe('live'));
  source.say('error', { code: 'unauthorized' });
  for (const { status } of tabs) await soon(() => expect(status()).toBe('out'));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(Source.open).toEqual([]);
  expect(fetchSpy).not.toHaveBeenCalled();
  await new Promise((resolve) => setTimeout(resolve, 700));
  tabs.push(tab(4));
  await connected();
  for (const { status } of tabs) await soon(() => expect(status()).toBe('live'));
  await soon(() => expect(tabs[0]?.gaps()).toBe(1));
  expect(Source.open.length).toBe(1);
});

test('changed rights end the connection, and it is opened again with the new ones', async () => {
  const fetchSpy = vi.fn();
  vi.stubGlobal('fetch', fetchSpy);
  const { status, gaps } = tab();
  const source = await connected();
  source.say('error', { code: 'forbidden' });
  await soon(() => expect(Source.opened.length).toBe(2));
  expect(fetchSpy).not.toHaveBeenCalled();
  expect(source.readyState).toBe(Source.CLOSED);
  await connected();
  expect(status()).toBe('live');
  expect(gaps()).toBe(1);
});

test('a refused connection asks why: without access it stays closed, otherwise it is opened again', async () => {
  const answers = [200, 401];
  vi.stubGlobal('fetch', async () => new Response(null, { status: answers.shift() ?? 500 }));
  const { status } = tab();
  const source = await connected();
  source.refused();
  await soon(() => expect(Source.opened.length).toBe(2));
  expect(status()).toBe('behind');
  Source.opened[1]?.refused();
  await soon(() => expect(status()).toBe('out'));
  expect(answers).toEqual([]);
  expect(Source.open).toEqual([]);
});

test('a broken connection is reported as behind, and everything is read again when it is back', async () => {
  const { status, gaps } = tab();
  const source = await connected();
  source.breaks();
  expect(status()).toBe('behind');
  source.accept();
  expect(status()).toBe('live');
  expect(gaps()).toBe(1);
});

test('a sleeping page gives up the connection, and reads everything again when it wakes', async () => {
  const { received, gaps } = tab();
  const source = await connected();
  source.say('message', line(3));
  await soon(() => expect(received).toEqual([3]));
  document.dispatchEvent(new globalThis.Event('freeze'));
  await soon(() => expect(source.readyState).toBe(Source.CLOSED));
  expect(Source.open).toEqual([]);
  document.dispatchEvent(new globalThis.Event('resume'));
  const next = await connected();
  expect(next.url.searchParams.get('last_event_id')).toBe('3');
  expect(gaps()).toBe(1);
});
