/** Opened moments: who shares a file, how long it stays, how much room all of them take, and what removes them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WinterdockError } from '../../base/errors.ts';
import { newSeries } from '../names/replica-names.ts';
import type { MomentOwner } from './moment-source.ts';
import { OpenedMoments, type OpenedMomentsOptions } from './opened-moments.ts';

const SECOND = 1000;
/** Of each file. */
const BYTES = 1000;

let folder: string;
let asked: string[];
let held: (() => void)[];
/** Whether makings wait until they are let go. */
let holds: boolean;
let moments: OpenedMoments;
/** Times of the moments that there are, in milliseconds. */
let times: number[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-opened-'));
  mkdirSync(join(folder, 'opened'));
  [asked, held, holds, times] = [[], [], false, [10, 20, 30, 40].map((at) => at * SECOND)];
  moments = opened();
});
afterEach(async () => {
  await moments.stop();
  rmSync(folder, { recursive: true });
});

const files = () => readdirSync(join(folder, 'opened'));
const whose = (id: string, tenant = 'acme'): MomentOwner => ({ id, tenant });

/** Moments of any sandbox, whose files say what they are. */
function opened(options: Partial<OpenedMomentsOptions> = {}): OpenedMoments {
  const found = { series: newSeries(1, 1), timeMs: 0, chain: [], bytes: 1, isShort: false };
  return new OpenedMoments({
    ...{ folder: join(folder, 'opened'), staging: join(folder, 'staging'), mostBytes: 10 * BYTES },
    source: {
      async find({ id }, atMs) {
        await setImmediate();
        asked.push(`find ${id} ${atMs / SECOND}`);
        const timeMs = times.findLast((time) => time <= atMs);
        if (timeMs === undefined) throw new WinterdockError('moment_gone', 'Nothing that old.');
        return { found: { ...found, timeMs }, key: `t1-${timeMs}`, bytes: BYTES };
      },
      async make({ id }, { found: { timeMs }, target }, signal) {
        asked.push(`make ${id} ${timeMs / SECOND}`);
        if (holds) await new Promise<void>((resolve) => held.push(resolve));
        signal.throwIfAborted();
        writeFileSync(target, 'x'.repeat(BYTES));
        return { timeMs, bytes: BYTES };
      },
    },
    ...options,
  });
}

const use = <T>(id: string, second: number, read: () => Promise<T> | T = () => undefined as T, isFinal = true) =>
  moments.use(whose(id), { atMs: second * SECOND, isFinal }, async ({ path, timeMs }) => {
    expect(statSync(path).size).toBe(BYTES);
    return { seconds: timeMs / SECOND, path, read: await read() };
  });
const settled = () => vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { timeout: 240_000 });
const letGo = () => {
  for (const go of held.splice(0)) go();
};

test('who reads the same moment at the same time, by whatever time, shares one file', async () => {
  holds = true;
  const all = [use('a', 25), use('a', 25), use('a', 21), use('a', 20)];
  await settled();
  letGo();
  const read = await Promise.all(all);
  expect(new Set(read.map(({ path }) => path)).size).toBe(1);
  expect(read.map(({ seconds }) => seconds)).toEqual([20, 20, 20, 20]);
  expect(asked.filter((one) => one.startsWith('make'))).toEqual(['make a 20']);
  expect(asked.filter((one) => one.startsWith('find')).sort()).toEqual(['find a 20', 'find a 21', 'find a 25']);
  expect((await use('a', 25)).path).toBe(read[0]?.path);
  expect(asked).toHaveLength(4);
});

test('a time before which something may still come is looked for again', async () => {
  expect((await use('a', 45, undefined, false)).seconds).toBe(40);
  times.push(44 * SECOND);
  expect((await use('a', 45, undefined, false)).seconds).toBe(44);
  expect(files()).toHaveLength(2);
});

test('a moment that nobody reads goes after a while, and one that is read stays', async () => {
  await moments.stop();
  moments = opened({ keepMs: 50 });
  const { path } = await use('a', 20);
  await use('a', 30, async () => {
    await vi.waitFor(() => expect(existsSync(path)).toBe(false), { timeout: 240_000 });
    expect(files()).toHaveLength(1);
  });
  await vi.waitFor(() => expect([files(), moments.bytes]).toEqual([[], 0]), { timeout: 240_000 });
  expect((await use('a', 20)).seconds).toBe(20);
});

test('all of them take no more room than they may: the least recently used go, and what is read is waited for', async () => {
  await moments.stop();
  moments = opened({ mostBytes: 3 * BYTES });
  for (const id of ['a', 'b', 'c']) await use(id, 20);
  await use('a', 20);
  await use('d', 20);
  expect(asked.filter((one) => one.startsWith('make'))).toHaveLength(4);
  await vi.waitFor(
    () =>
      expect(
        files()
          .map(([id]) => id)
          .sort(),
      ).toEqual(['a', 'c', 'd']),
    { timeout: 240_000 },
  );

  let most = 0;
  let under = 0;
  const hold = async () => {
    under += 1;
    await setImmediate();
    most = Math.max(most, under, moments.bytes / BYTES);
    under -= 1;
  };
  const ids = Array.from({ length: 40 }, (_, at) => `many-${at}`);
  const read = await Promise.all(ids.map((id) => use(id, 30, hold)));
  expect(read.map(({ seconds }) => seconds)).toEqual(ids.map(() => 30));
  expect(most).toBeLessThanOrEqual(3);
  expect(moments.bytes).toBeLessThanOrEqual(3 * BYTES);
});

test('one that is larger than all of the room is refused, and nobody waits for it', async () => {
  await moments.stop();
  moments = opened({ mostBytes: BYTES - 1 });
  await expect(use('a', 20)).rejects.toMatchObject({ code: 'too_large', extra: { limit: BYTES - 1 } });
  expect([files(), moments.bytes]).toEqual([[], 0]);
});

test('tenants take turns, and nobody fills the queue of others', async () => {
  holds = true;
  const many = Array.from({ length: 140 }, (_, at) =>
    moments.use(whose(`a${at}`, 'acme'), { atMs: 20 * SECOND, isFinal: true }, async () => 'acme'),
  );
  const refused = Promise.allSettled(many);
  await settled();
  const other = moments.use(whose('x', 'globex'), { atMs: 20 * SECOND, isFinal: true }, async () => 'globex');
  await vi.waitFor(() => expect(asked).toContain('find x 20'), { timeout: 240_000 });
  letGo();
  await vi.waitFor(() => expect(asked).toContain('make x 20'), { timeout: 240_000 });
  expect(asked.filter((one) => one.startsWith('make a')).length).toBeLessThan(6);
  holds = false;
  letGo();
  expect(await other).toBe('globex');
  // Two are made, and 128 of a tenant wait.
  const ends = await refused;
  const told = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as WinterdockError).code] : []));
  expect(told).toEqual(Array.from({ length: 10 }, () => 'rate_limited'));
});

test('a sandbox that is deleted has no file any more, is looked for in vain, and nothing of it is made', async () => {
  const { path } = await use('a', 20);
  await use('b', 20);
  let path30 = '';
  await use('a', 30, async () => {
    path30 = files().find((name) => name.includes('-30000-')) ?? '';
    await moments.forget('a');
    expect(existsSync(path)).toBe(false);
    // Whoever reads it goes on.
    expect(files()).toContain(path30);
  });
  await vi.waitFor(() => expect(files().map(([id]) => id)).toEqual(['b']), { timeout: 240_000 });
  holds = true;
  const waiting = [use('a', 40), use('a', 10), use('a', 20)].map((one) => one.catch((error: unknown) => error));
  await settled();
  const forgetting = moments.forget('a');
  letGo();
  await forgetting;
  for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ code: 'gone' });
  expect(files().map(([id]) => id)).toEqual(['b']);
  expect([readdirSync(join(folder, 'staging')), moments.bytes]).toEqual([[], BYTES]);
});

test('what fails is told to all who wait for it, leaves nothing, and is tried again', async () => {
  let fails = true;
  await moments.stop();
  const whole = opened();
  moments = opened({
    source: {
      find: async (_, atMs) => ({
        ...{ found: { series: newSeries(1, 1), timeMs: atMs, chain: [], bytes: 1, isShort: false } },
        ...{ key: 't1', bytes: BYTES },
      }),
      async make(_, { target }) {
        writeFileSync(target, fails ? 'half' : 'x'.repeat(BYTES));
        if (fails) throw new WinterdockError('storage_unavailable', 'The store is away.');
        return { timeMs: 5, bytes: BYTES };
      },
    },
  });
  await whole.stop();
  const ends = await Promise.allSettled([use('a', 20), use('a', 20)]);
  expect(ends.map((end) => end.status === 'rejected' && (end.reason as WinterdockError).code)).toEqual([
    ...['storage_unavailable', 'storage_unavailable'],
  ]);
  expect([files(), readdirSync(join(folder, 'staging')), moments.bytes]).toEqual([[], [], 0]);
  fails = false;
  await use('a', 20);
  expect(moments.bytes).toBe(BYTES);
});

test('after a stop nothing is there, and who waits or comes is refused', async () => {
  await use('a', 20);
  holds = true;
  const waiting = [use('b', 20), use('c', 20), use('d', 20), use('e', 20)].map((one) =>
    one.catch((error: unknown) => error),
  );
  await settled();
  const stopping = moments.stop();
  letGo();
  await stopping;
  for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ code: 'storage_unavailable' });
  await expect(use('a', 20)).rejects.toMatchObject({ code: 'storage_unavailable' });
  await vi.waitFor(() => expect([files(), moments.bytes]).toEqual([[], 0]), { timeout: 240_000 });
});
