import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimPrefix, readMarker } from './marker.ts';
import { MARKER_NAME } from './object-names.ts';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { connectionTo, startS3Server, useTestKeys } from './testing/s3-server.ts';
import { type StoreHealth, type WatchedStore, watchedStore } from './watched-store.ts';

const OWN = { id: 'winter-1', term: 3, epoch: 1 };
const FIRST = { isEstablished: false };

/** Waits end when the time is set forward; the clock shows that time. */
class FakeTime {
  #now = 1_765_500_000_000;
  readonly #waits = new Set<{ until: number; end: () => void }>();

  now(): number {
    return this.#now;
  }

  wait = (ms: number, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one = { until: this.#now + ms, end: resolve };
    this.#waits.add(one);
    const abort = () => {
      this.#waits.delete(one);
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return promise;
  };

  /** The pauses that are waited for now, in seconds from now. */
  pauses(): number[] {
    return [...this.#waits].map(({ until }) => (until - this.#now) / 1000).toSorted((one, other) => one - other);
  }

  async pass(seconds: number): Promise<void> {
    this.#now += seconds * 1000;
    for (const one of this.#waits) {
      if (one.until > this.#now) continue;
      this.#waits.delete(one);
      one.end();
    }
    await setImmediate();
  }
}

let folder: string;
let root: string;
let store: ObjectStore;
let watched: WatchedStore;
let time: FakeTime;
const changes: StoreHealth[] = [];

const watch = (one: ObjectStore) => {
  time = new FakeTime();
  watched = watchedStore(one, { installation: OWN.id, clock: time, wait: time.wait });
  changes.length = 0;
  watched.onHealth((health) => void changes.push(health));
};
const takeAway = () => renameSync(root, join(folder, 'taken'));
const bringBack = () => {
  rmSync(root, { recursive: true, force: true });
  renameSync(join(folder, 'taken'), root);
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-watched-'));
  root = join(folder, 'store');
  store = await openObjectStore(pathToFileURL(root).href, connectionTo(''));
});
afterEach(async () => {
  await watched?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the marker', () => {
  test('claims a free place, is kept by its installation and goes with its term', async () => {
    await claimPrefix(store, OWN, FIRST);
    expect(await readMarker(store)).toEqual(OWN);
    await claimPrefix(store, { ...OWN, term: 4 }, { isEstablished: true });
    expect(await readMarker(store)).toEqual({ ...OWN, term: 4 });
    await claimPrefix(store, OWN, { isEstablished: true });
    expect(await readMarker(store)).toEqual({ ...OWN, term: 4 });
    await claimPrefix(store, { ...OWN, epoch: 2 }, { isEstablished: true });
    expect(await readMarker(store)).toEqual({ ...OWN, term: 4, epoch: 2 });
    const earlier = claimPrefix(store, { ...OWN, term: 9 }, { isEstablished: true, isStart: true });
    await expect(earlier).rejects.toMatchObject({ extra: { start_refused: 'store_of_later_epoch' } });
    expect(await readMarker(store)).toEqual({ ...OWN, term: 4, epoch: 2 });
  });

  test.each([
    ['another installation', JSON.stringify({ id: 'winter-2', term: 1 })],
    ['something else', 'hello'],
    ['a document of another kind', '[]'],
    ['too much', ' '.repeat(2_000_000)],
  ])('of %s refuses the start with both ways out, and stays', async (_, text) => {
    writeFileSync(join(root, MARKER_NAME), text);
    const claiming = claimPrefix(store, OWN, FIRST);
    await expect(claiming).rejects.toMatchObject({ code: 'conflict', extra: { start_refused: 'store_claimed' } });
    await expect(claiming).rejects.toMatchObject({ hint: expect.stringMatching(/WB_COLD_URL.*winterdock\.json/) });
    expect(readFileSync(join(root, MARKER_NAME), 'utf8')).toBe(text);
  });

  test('that was lost is no free place for whoever has objects there', async () => {
    const claiming = claimPrefix(store, OWN, { isEstablished: true });
    await expect(claiming).rejects.toMatchObject({ code: 'storage_unavailable', extra: { away: 'no_marker' } });
    expect(await readMarker(store)).toBeNull();
  });

  test('goes to one of two that claim a free place at once', async () => {
    const claims = await Promise.allSettled(
      ['winter-1', 'winter-2'].map((id) => claimPrefix(store, { id, term: 1 }, FIRST)),
    );
    expect(claims.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a watched store', () => {
  beforeEach(async () => {
    await claimPrefix(store, OWN, FIRST);
    await store.put('a', Buffer.from('one'));
    watch(store);
  });

  test('is away from the first failure until it answers again, with the reason and since when', async () => {
    const { foreground } = watched;
    expect(watched.health()).toEqual({ away: null, since: null });
    takeAway();
    const since = time.now();
    await expect(foreground.get('a')).rejects.toMatchObject({ code: 'storage_unavailable' });
    await time.pass(10);
    await expect(foreground.get('a')).rejects.toMatchObject({ extra: { away: 'no_bucket' } });
    expect(watched.health()).toEqual({ away: 'no_bucket', since });
    bringBack();
    expect(Buffer.from(await foreground.get('a')).toString()).toBe('one');
    expect(changes).toEqual([
      { away: 'no_bucket', since },
      { away: null, since: null },
    ]);
  });

  test('is not away because an object is missing or taken', async () => {
    await expect(watched.foreground.get('b')).rejects.toMatchObject({ code: 'missing_file' });
    const taken = watched.foreground.put('a', Buffer.from('two'), { ifAbsent: true });
    await expect(taken).rejects.toMatchObject({ code: 'conflict' });
    expect(changes).toEqual([]);
  });

  test('is found to be away, and back, by its marker alone', async () => {
    takeAway();
    await time.pass(60);
    await expect.poll(() => watched.health().away).toBe('no_bucket');
    bringBack();
    // The first pauses are short.
    await expect.poll(() => time.pauses()).toEqual([2]);
    await time.pass(2);
    await expect.poll(() => watched.health().away).toBeNull();
    await expect.poll(() => time.pauses()).toEqual([60]);
  });

  test('looks again after a minute at most, however long it is away', async () => {
    takeAway();
    await time.pass(60);
    for (const pause of [2, 4, 8, 16, 32, 60, 60]) {
      await expect.poll(() => time.pauses()).toEqual([pause]);
      await time.pass(pause);
    }
  });

  test('is away once a later start has it, and not where the store was put back to an earlier one', async () => {
    const claim = () => claimPrefix(store, OWN, { isEstablished: true, isStart: true });
    const earlier = await claim();
    const old = readFileSync(join(root, MARKER_NAME));
    const own = await claim();
    expect([earlier?.number, own?.number]).toEqual([1, 2]);
    const start = () => own;
    const running = watchedStore(store, { installation: OWN.id, start, clock: time, wait: time.wait });
    expect(await running.check()).toMatchObject({ away: null });
    writeFileSync(join(root, MARKER_NAME), old);
    expect(await running.check()).toMatchObject({ away: null });
    // A copy of the folder that starts on that has the same number.
    await claim();
    expect(await running.check()).toMatchObject({ away: 'taken_over' });
    const calledOff = new AbortController();
    const removing = running.background.remove('a', { signal: calledOff.signal });
    calledOff.abort(new Error('called off'));
    await expect(removing).rejects.toThrow();
    await expect(running.foreground.put('b', Buffer.from('x'))).rejects.toMatchObject({
      extra: { away: 'taken_over' },
    });
    expect(await store.head('a')).not.toBeNull();
    await running.close();
  });

  test.each([
    ['no_marker', () => rmSync(join(root, MARKER_NAME))],
    ['other_installation', () => writeFileSync(join(root, MARKER_NAME), '{"id":"winter-2","term":9}')],
  ])('with %s answers nothing until the marker is there again', async (reason, change) => {
    change();
    await watched.check();
    expect(watched.health().away).toBe(reason);
    const away = { code: 'storage_unavailable', extra: { away: reason } };
    await expect(watched.foreground.get('a')).rejects.toMatchObject(away);
    await expect(watched.foreground.put('b', Buffer.from('x'))).rejects.toMatchObject(away);
    await expect(watched.isMissing('b')).rejects.toMatchObject(away);
    expect(await store.head('b')).toBeNull();
    writeFileSync(join(root, MARKER_NAME), JSON.stringify(OWN));
    expect(await watched.check()).toEqual({ away: null, since: null });
    expect(Buffer.from(await watched.foreground.get('a')).toString()).toBe('one');
  });

  test('lets work in the background go on once it is back, without waiting for the end of a pause', async () => {
    takeAway();
    const reading = watched.background.get('a');
    await expect.poll(() => time.pauses()).toContain(1);
    await time.pass(1);
    await expect.poll(() => time.pauses()).toContain(2);
    bringBack();
    await watched.check();
    expect(Buffer.from(await reading).toString()).toBe('one');
  });

  test('ends work in the background with its signal, and with the watching', async () => {
    takeAway();
    const controller = new AbortController();
    const called = watched.background.get('a', { signal: controller.signal });
    const other = watched.background.get('a');
    await expect.poll(() => time.pauses().filter((pause) => pause === 1)).toHaveLength(2);
    controller.abort(new Error('called off'));
    await expect(called).rejects.toThrow('called off');
    await watched.close();
    await expect(other).rejects.toThrow();
    expect(time.pauses()).toEqual([]);
  });

  test('tells in the background what repeating does not change', async () => {
    await expect(watched.background.get('b')).rejects.toMatchObject({ code: 'missing_file' });
    takeAway();
    const listing = (async () => {
      for await (const page of watched.background.list('')) expect(page).toBeDefined();
    })();
    await expect(listing).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('calls an object missing only after a minute, with its marker there each time', async () => {
    const missing = watched.isMissing('b');
    let found: boolean | null = null;
    void missing.then((result) => {
      found = result;
    });
    await expect.poll(() => time.pauses()).toEqual([30, 60]);
    await time.pass(30);
    await expect.poll(() => time.pauses()).toEqual([30, 30]);
    expect(found).toBeNull();
    await time.pass(30);
    expect(await missing).toBe(true);
    expect(await watched.isMissing('a')).toBe(false);
  });

  test('does not call an object missing that comes back, nor any while the marker is gone', async () => {
    const healed = watched.isMissing('b');
    await expect.poll(() => time.pauses()).toEqual([30, 60]);
    await store.put('b', Buffer.from('x'));
    await time.pass(30);
    expect(await healed).toBe(false);
    const lost = watched.isMissing('c');
    await expect.poll(() => time.pauses()).toEqual([30, 30]);
    rmSync(root, { recursive: true });
    mkdirSync(root);
    const refused = expect(lost).rejects.toMatchObject({ code: 'storage_unavailable' });
    await time.pass(30);
    await refused;
  });

  test('counts requests by what was asked and what came of it', async () => {
    await watched.foreground.get('a');
    await watched.foreground.get('a');
    await watched.foreground.get('b').catch(() => undefined);
    const controller = new AbortController();
    controller.abort(new Error('called off'));
    await watched.foreground.put('c', Buffer.from('x'), { signal: controller.signal }).catch(() => undefined);
    for await (const page of watched.foreground.list('a')) expect(page).toHaveLength(1);
    const counted = Object.fromEntries(watched.requests().map(({ op, outcome, count }) => [`${op} ${outcome}`, count]));
    expect(counted).toEqual({ 'get ok': 2, 'get missing_file': 1, 'put aborted': 1, 'list ok': 2 });
  });
});

test('somebody who waits has an answer after five seconds without progress, and with some waits on', async () => {
  const forget = useTestKeys();
  // Slow enough for an upload to be told of several times.
  const server = await startS3Server({ delayMs: 200 });
  const remote = await openObjectStore('s3://bucket', connectionTo(server.endpoint));
  await claimPrefix(remote, OWN, FIRST);
  await remote.put('a', Buffer.from('one'));
  watch(remote);
  process.kill(server.pid, 'SIGSTOP');
  const asking = Promise.allSettled([
    watched.foreground.get('a'),
    watched.foreground.list('')[Symbol.asyncIterator]().next(),
    watched.foreground.open('a'),
  ]);
  await expect.poll(() => time.pauses().filter((pause) => pause === 5)).toHaveLength(3);
  await time.pass(4);
  expect(watched.health().away).toBeNull();
  await time.pass(1);
  const away = { code: 'storage_unavailable', extra: { away: 'timeout' }, retryAfterSeconds: 5 };
  const refused = { status: 'rejected', reason: away };
  expect(await asking).toMatchObject([refused, refused, refused]);
  expect(watched.health().away).toBe('timeout');
  process.kill(server.pid, 'SIGCONT');
  expect(Buffer.from(await watched.foreground.get('a')).toString()).toBe('one');
  expect(watched.health().away).toBeNull();
  const path = join(folder, 'large');
  writeFileSync(path, Buffer.alloc(20_000_000));
  let passedSeconds = 0;
  await watched.foreground.upload('large', path, {
    progress() {
      passedSeconds += 4.9;
      void time.pass(4.9);
    },
  });
  expect(passedSeconds).toBeGreaterThan(5);
  await server.stop();
  forget();
});
