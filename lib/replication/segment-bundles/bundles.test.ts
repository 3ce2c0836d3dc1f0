import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { DEFAULT_RETENTION, parseRetention } from '../../base/replica-retention.ts';
import { type S3Server, startS3Server, useTestKeys } from '../../storage/object-store/testing/s3-server.ts';
import { ageBundles } from '../levels/bundle-aging.ts';
import { removeBundlesOf, removeReplicaOf } from '../levels/replica-removal.ts';
import { minuteOf, parseBundleName } from '../names/bundle-names.ts';
import { type BundlingStage, bundlingStage } from '../testing/bundling-stage.ts';
import { readIndex } from './bundle-reader.ts';

const SOON = { timeout: 240_000 };
const MINUTE_MS = 60_000;
const TENANTS = { acme: ['a', 'b', 'c'], globex: ['x', 'y'] };
let server: S3Server;
let stage: BundlingStage;
let forgetKeys: () => void;
let places = 0;
/** Fails, of what the store is asked for. */
let change: (op: string, name: string) => void = () => undefined;

beforeAll(async () => {
  forgetKeys = useTestKeys();
  server = await startS3Server();
});
afterAll(async () => {
  await server.stop();
  forgetKeys();
});
beforeEach(async () => {
  places += 1;
  change = () => undefined;
  stage = await bundlingStage(server, `place-${places}`, { change: (op, name) => change(op, name) });
  // The middle of a minute.
  stage.clock.at = minuteOf(stage.clock.at) * MINUTE_MS + 20_000;
});
afterEach(() => stage.close());

const uploaded = () => stage.asked.filter((one) => one.startsWith('upload '));

/** Ships so many rounds, a second apart. The first one has the bases. */
async function rounds(count: number, tenants: Record<string, readonly string[]> = TENANTS): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await stage.ship(tenants);
    stage.clock.at += 1000;
  }
}

/** Every state of every sandbox is restored as it was. */
async function expectAll(tenants: Record<string, readonly string[]> = TENANTS): Promise<void> {
  for (const [tenant, ids] of Object.entries(tenants)) {
    for (const id of ids) {
      const states = stage.made.states.get(id) ?? [];
      for (const [at, { bytes, timeMs }] of states.entries()) {
        const found = await stage.restored(tenant, id, timeMs);
        expect(found?.bytes.equals(bytes), `${id} at ${at + 1}`).toBe(true);
        expect(found?.timeMs).toBe(timeMs);
      }
      const last = await stage.restored(tenant, id);
      expect(last?.bytes.equals(states.at(-1)?.bytes ?? Buffer.alloc(0)), `${id} now`).toBe(true);
      expect(last?.isShort).toBe(false);
    }
  }
}

test('what the sandboxes of a tenant have to send is one object, and each state of each can be restored', async () => {
  await rounds(1);
  expect(await stage.names('bundles/')).toEqual([]);
  const before = uploaded().length;
  await rounds(4);
  expect(uploaded().length - before).toBe(8);
  expect((await stage.names('bundles/')).map((name) => parseBundleName(name)?.tenant)).toEqual([
    ...['acme', 'acme', 'acme', 'acme'],
    ...['globex', 'globex', 'globex', 'globex'],
  ]);
  await expectAll();
});

test('a segment that is alone, one that somebody waits for, and a base go by themselves', async () => {
  await rounds(1);
  await rounds(1, { acme: ['a'] });
  expect(await stage.names('bundles/')).toEqual([]);
  stage.uploads.putFirst('b', true);
  await rounds(1, { acme: ['a', 'b', 'c', 'd'] });
  const [bundle, ...others] = await stage.names('bundles/');
  expect(others).toEqual([]);
  expect(uploaded().filter((one) => one.includes('/b/') && one.includes('/0/'))).toHaveLength(1);
  expect(bundle).toBeDefined();
  await expectAll({ acme: ['a', 'b', 'c', 'd'] });
});

test('a minute is merged from this disk, and then no bundle of before is read for a restore', async () => {
  await rounds(5);
  stage.clock.at += MINUTE_MS;
  stage.asked.length = 0;
  await stage.merge();
  expect(stage.asked.filter((one) => /^(?:open|download) /.test(one))).toEqual([]);
  // What comes then says that nothing of before has to be looked for.
  await rounds(2);
  await expectAll();
  stage.asked.length = 0;
  await stage.restored('acme', 'a');
  const opened = new Set(stage.asked.filter((one) => one.startsWith('open bundles/')).map((one) => one.split(' ')[1]));
  expect(opened.size).toBe(2);
});

test('what a process left in bundles is merged by the next one, also of a sandbox that was deleted', async () => {
  await rounds(3);
  await stage.restart();
  await expectAll();
  stage.clock.at += 3 * MINUTE_MS;
  await stage.ship({ acme: ['a', 'b'] });
  await vi.waitFor(async () => {
    await stage.merge();
    expect((await stage.names('replica/c/')).filter((name) => name.includes('/ltx/1/'))).toHaveLength(1);
  }, SOON);
  stage.clock.at += 1000;
  await stage.ship({ acme: ['a', 'b'] });
  stage.asked.length = 0;
  await stage.restored('acme', 'c');
  // Of the minute that the first process wrote nothing is read any more.
  expect(stage.asked.filter((one) => one.startsWith('open bundles/'))).toHaveLength(2);
  await expectAll();
});

test('the last minute of a sandbox that is deleted is merged at once', async () => {
  await rounds(3);
  await stage.uploads.drop('c');
  await stage.levels.whenMerged();
  expect((await stage.names('replica/c/')).filter((name) => name.includes('/ltx/1/'))).toHaveLength(1);
  await expectAll();
});

test('a bundle that is gone is seen: its segments are missing, or it is the one that another follows', async () => {
  await rounds(2, { acme: ['a', 'b'] });
  await rounds(1, { acme: ['a', 'b', 'c'] });
  await rounds(1, { acme: ['a', 'b', 'c'] });
  await rounds(1, { acme: ['a', 'b'] });
  const names = await stage.names('bundles/acme/');
  await stage.store.remove(names.at(-2) ?? '');
  // The last state of `c` was in it, and nothing of `c` comes later.
  expect((await stage.restored('acme', 'c'))?.isShort).toBe(true);
  expect((await stage.restored('acme', 'a'))?.isShort).toBe(true);
});

test('a bundle that is damaged costs what is in it: the moments before it are there, and others, and that is said', async () => {
  await rounds(2, { acme: ['a', 'b'] });
  stage.clock.at += MINUTE_MS;
  await rounds(1, { acme: ['a', 'b'] });
  const [first = '', last = ''] = await stage.names('bundles/acme/');
  const whole = await stage.store.get(last);
  const other = await stage.store.get(first);
  const stateOf = (id: string, nth: number) => stage.made.states.get(id)?.at(nth);
  const with0 = (from: number) => Uint8Array.from(whole).fill(0, from);
  const flipped = (at: number) => Uint8Array.from(whole, (byte, nth) => (nth === at ? byte ^ 1 : byte));
  const index = { name: last, bytes: whole.length };
  for (const [bytes, why] of [
    [whole.subarray(0, whole.length - 1), /it has \d+ bytes instead of \d+/],
    [whole.subarray(0, 200), /is damaged: it is cut off/],
    [whole.subarray(0, 0), /it is cut off/],
    [flipped(100), /its index has another checksum/],
    [with0(60), /its index has another checksum/],
    [other, /it is that of bundles\/acme\//],
  ] as const) {
    await stage.store.put(last, bytes);
    await expect(readIndex(stage.store, { ...index, bytes: bytes.length })).rejects.toThrow(why);
    for (const id of ['a', 'b']) {
      const before = stateOf(id, 1);
      // With nothing said of what it was to be.
      for (const atMs of [undefined, stateOf(id, 2)?.timeMs]) {
        const restored = await stage.restored('acme', id, atMs);
        expect(restored).toMatchObject({ timeMs: before?.timeMs, isShort: true });
        expect(restored?.bytes).toEqual(before?.bytes);
      }
      const earlier = await stage.restored('acme', id, before?.timeMs);
      expect([earlier?.isShort, earlier?.bytes]).toEqual([false, before?.bytes]);
    }
  }
  // A segment in it alone, or the second half of it: that of the other sandbox is there.
  const { segments } = await readIndex(stage.store, await put(last, whole));
  const ofB = segments.find(({ id }) => id === 'b')?.bundled;
  for (const bytes of [flipped(whole.length - 30), with0(ofB?.at ?? 0)]) {
    await stage.store.put(last, bytes);
    const [a, b] = [await stage.restored('acme', 'a'), await stage.restored('acme', 'b')];
    expect([a?.isShort, a?.bytes]).toEqual([false, stateOf('a', 2)?.bytes]);
    expect([b?.isShort, b?.timeMs, b?.bytes]).toEqual([true, stateOf('b', 1)?.timeMs, stateOf('b', 1)?.bytes]);
  }
});

async function put(name: string, bytes: Uint8Array): Promise<{ name: string; bytes: number }> {
  await stage.store.put(name, bytes);
  return { name, bytes: bytes.length };
}

test('where all bundles of a tenant are damaged its sandboxes ship on, and those bundles go after a week', async () => {
  await rounds(2, { acme: ['a', 'b'] });
  const names = await stage.names('bundles/acme/');
  for (const name of names) await stage.store.put(name, Buffer.from('no bundle'));
  await stage.restart();
  await rounds(1, { acme: ['c', 'e'] });
  await rounds(1, { acme: ['c', 'e'] });
  expect(stage.uploads.away).toBeNull();
  expect((await stage.names('bundles/acme/')).length).toBeGreaterThan(names.length);
  for (const id of ['c', 'e']) expect((await stage.restored('acme', id))?.bytes).toEqual(lastOf(id));
  await age(26);
  expect(await stage.names('bundles/acme/')).toEqual(expect.arrayContaining(names));
  await age(8 * 24);
  expect((await stage.names('bundles/acme/')).filter((name) => names.includes(name))).toEqual([]);
});

const lastOf = (id: string) => stage.made.states.get(id)?.at(-1)?.bytes;

test('a bundle that was refused is sent again, and one that arrived without an answer is there twice', async () => {
  await rounds(1, { acme: ['a', 'b'] });
  let left = 2;
  change = (op, name) => {
    if (!op.startsWith('upload') || !name.startsWith('bundles/') || left === 0) return;
    // Before the first one, and after the second one.
    if (op === (left === 2 ? 'upload' : 'uploaded')) {
      left -= 1;
      throw new Error('It was refused.');
    }
  };
  await stage.ship({ acme: ['a', 'b'] });
  expect(left).toBe(0);
  expect(await stage.names('bundles/acme/')).toHaveLength(2);
  await expectAll({ acme: ['a', 'b'] });
  expect(stage.uploads.away).toBeNull();
});

test('where this disk has no room for a bundle each goes by itself', async () => {
  await rounds(1, { acme: ['a', 'b'] });
  rmSync(join(stage.folder, 'bundles'), { recursive: true });
  writeFileSync(join(stage.folder, 'bundles'), 'no folder');
  await rounds(2, { acme: ['a', 'b'] });
  expect(await stage.names('bundles/')).toEqual([]);
  expect(stage.uploads.away).toBeNull();
  await expectAll({ acme: ['a', 'b'] });
});

test('a segment that is gone from the spool is lost by itself, and the others of its bundle arrive', async () => {
  await rounds(1, { acme: ['a', 'b', 'c'] });
  const lost: string[] = [];
  stage.uploads.onLost((id) => lost.push(id));
  const segments = [];
  for (const id of ['a', 'b', 'c']) segments.push(await stage.made.next(id, stage.clock.at));
  rmSync(segments[1]?.path ?? '');
  for (const segment of segments) stage.uploads.add(segment);
  await Promise.all(['a', 'b', 'c'].map((id) => stage.uploads.whenShipped(id)));
  expect(lost).toEqual(['b']);
  await expectAll({ acme: ['a', 'c'] });
});

/** A round of what is kept, so many hours from now. */
async function age(hours: number): Promise<number> {
  const keeps = parseRetention(DEFAULT_RETENTION);
  if (keeps === null) throw new Error(DEFAULT_RETENTION);
  const remove = (name: string) => stage.store.remove(name);
  const nowMs = Date.now() + hours * 3_600_000;
  const { store, levels } = stage;
  const removed = await ageBundles({
    ...{ store, remove, levels, keeps, nowMs },
    ...{ log: createLogger('silent'), isOver: () => false },
  });
  await levels.whenMerged();
  return removed;
}

test('a bundle goes a day after everything in it was merged, and no sooner', async () => {
  await rounds(3);
  const bundles = await stage.names('bundles/');
  // Nothing is merged: it stays, and is merged by the round.
  await stage.restart();
  expect(await age(25)).toBe(0);
  expect((await stage.names('replica/a/')).filter((name) => name.includes('/ltx/1/'))).toHaveLength(1);
  expect(await stage.names('bundles/')).toEqual(bundles);
  expect(await age(23)).toBe(0);
  // One sandbox lacks it: all of its bundles stay, and those of another tenant go.
  const [level = ''] = (await stage.names('replica/a/')).filter((name) => name.includes('/ltx/1/'));
  const path = join(stage.folder, 'level');
  await stage.store.download(level, path);
  await stage.store.remove(level);
  expect(await age(25)).toBe(2);
  expect((await stage.names('bundles/')).every((name) => name.startsWith('bundles/acme/'))).toBe(true);
  await expectAll({ acme: ['b', 'c'] });
  expect(await age(25)).toBe(2);
  expect(await stage.names('bundles/')).toEqual([]);
  for (const id of ['a', 'b', 'c']) {
    expect((await stage.restored('acme', id))?.bytes).toEqual(stage.made.states.get(id)?.at(-1)?.bytes);
  }
});

test('a bundle of sandboxes of which nothing can be made any more goes, and a list that lacks something keeps it', async () => {
  await rounds(2, { acme: ['a', 'b'] });
  await stage.restart();
  for (const name of await stage.names('replica/a/')) await stage.store.remove(name);
  expect(await age(25)).toBe(0);
  for (const name of await stage.names('replica/b/')) await stage.store.remove(name);
  expect(await age(25)).toBe(1);
});

test('a forgotten tenant has no byte in a bundle, and others keep theirs', async () => {
  await rounds(3);
  for (const id of TENANTS.acme) {
    await stage.uploads.forget(id);
    await stage.uploads.whenShipped(id);
  }
  await removeBundlesOf(stage.store, 'acme');
  for (const id of TENANTS.acme) await removeReplicaOf(stage.store, id);
  expect((await stage.names()).filter((name) => /acme|\/[abc]\//.test(name))).toEqual([]);
  stage.clock.at += 2 * MINUTE_MS;
  await stage.merge();
  expect((await stage.names()).filter((name) => /acme|\/[abc]\//.test(name))).toEqual([]);
  await expectAll({ globex: TENANTS.globex });
});
