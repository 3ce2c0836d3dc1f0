import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { InstanceId } from '../base/ids.ts';
import type { ReplicateClass } from '../replication/promise/replicate-class.ts';
import { HeldStore } from '../replication/testing/held-store.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { type ReplicaStage, startReplica } from './testing/replica-stage.ts';
import { REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

const SOON = { timeout: 240_000 };
let folder: string;
let dock: TestEngine;
let replica: ReplicaStage;
let store: HeldStore;
/** What is promised of each sandbox. */
let replicate: ReplicateClass;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-sync-'));
  const dataFolder = join(folder, 'data');
  store = new HeldStore();
  replicate = { kind: 'sync' };
  replica = await startReplica({
    ...{ folder: join(folder, 'replica'), dataFolder, clock: systemClock, between: store.over },
    classOf: () => replicate,
    rowOf: async (id) => (await dock.registry.instances.get(id)) as never,
  });
  dock = await startTestEngine({ dataFolder, replica: replica.files });
});
afterEach(async () => {
  store.release();
  store.isAway = false;
  await dock.stop();
  await replica.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The text of a file of the workspace in a restored file. */
function textIn(path: string, name: string): string | null {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const row = db.prepare("SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?").get(name);
    return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
  } finally {
    db.close();
  }
}
/** What the replica has, as it is now: nobody waits for anything. */
const inReplica = async (name: string, id = 'a') => textIn((await replica.restore(id)).path, name);
const put = (path: string, text: string, id = 'a') => dock.put(id, path, text);
/** Whether promises have settled after `inReplica` was asked twice, which takes longer than an answer. */
async function settledAmong(promises: Promise<unknown>[]): Promise<number> {
  let settled = 0;
  const count = () => {
    settled += 1;
  };
  for (const promise of promises) promise.then(count, count);
  for (let time = 0; time < 2; time += 1) await inReplica('/f.txt');
  return settled;
}
const notReplicated = (committed?: 'local') =>
  expect.objectContaining({
    code: 'not_replicated',
    retryAfterSeconds: 2,
    extra: committed === undefined ? {} : { committed },
  });
const caught = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);
const away = async () => {
  store.isAway = true;
  expect(await caught(put('/lost.txt', 'before'))).toEqual(notReplicated('local'));
  expect(replica.uploads.away).not.toBeNull();
};
const comesBack = async () => {
  store.isAway = false;
  replica.uploads.hurry();
  await vi.waitFor(() => expect(replica.uploads.away).toBeNull(), SOON);
};

test('what was answered is in the replica, whatever wrote it', async () => {
  await dock.create('a');
  await dock.run('a', 'echo one > one.txt');
  expect(await inReplica('/one.txt')).toBe('one\n');
  await put('/two.txt', 'two');
  expect(await inReplica('/two.txt')).toBe('two');
  const code = "open('/workspace/three.txt', 'w').write('three')";
  expect(await dock.sandboxes.eval('a', { language: 'python', code }, REQUEST)).toMatchObject({ ok: true });
  expect(await inReplica('/three.txt')).toBe('three');
  for (let time = 0; time < 20; time += 1) {
    await put('/many.txt', `time ${time}`);
    if (time % 5 === 0) expect(await inReplica('/many.txt')).toBe(`time ${time}`);
  }
  await dock.sandboxes.suspend('a', REQUEST);
  expect(await inReplica('/many.txt')).toBe('time 19');
  await put('/woken.txt', 'woken');
  expect(await inReplica('/woken.txt')).toBe('woken');
  expect(replica.gaps).toEqual([]);
});

test('no answer, no read and no piece of output comes before the store has what it says', async () => {
  await dock.create('a');
  await put('/f.txt', 'old');
  store.hold();
  const written = put('/f.txt', 'new');
  await vi.waitFor(() => expect(replica.uploads.waiting('a')).not.toEqual([]), SOON);
  const read = dock.get('a', '/f.txt');
  const pieces: string[] = [];
  const run = dock.sandboxes.exec('a', { command: 'cat f.txt; echo end' }, REQUEST, {
    onOutput: ({ text }) => pieces.push(text),
  });
  expect(await settledAmong([written, read, run])).toBe(0);
  expect([pieces, await inReplica('/f.txt')]).toEqual([[], 'old']);
  store.release();
  expect(await read).toBe('new');
  expect((await run).stdout).toBe('newend\n');
  expect(pieces.join('')).toBe('newend\n');
  await written;
  expect(await inReplica('/f.txt')).toBe('new');
});

test('writers of one sandbox share a segment, and other sandboxes do not wait for it', async () => {
  for (const id of ['a', 'b']) await dock.create(id);
  for (const id of ['a', 'b']) await put('/f.txt', 'begin', id);
  const before = store.stored.length;
  store.hold();
  const writes = Array.from({ length: 12 }, (_, one) => put(`/${one}.txt`, `${one}`));
  await vi.waitFor(() => expect(replica.uploads.waiting('a')).not.toEqual([]), SOON);
  store.release();
  await Promise.all(writes);
  expect(store.stored.length - before).toBeLessThanOrEqual(4);
  for (const one of [0, 11]) expect(await inReplica(`/${one}.txt`)).toBe(`${one}`);
  // The first upload of one does not hold up that of the other.
  store.hold();
  const held = put('/g.txt', 'a');
  await vi.waitFor(() => expect(replica.uploads.waiting('a')).not.toEqual([]), SOON);
  const other = put('/g.txt', 'b', 'b');
  await vi.waitFor(() => expect(store.begun.at(-1)).toContain('/b/'), SOON);
  store.release();
  await Promise.all([held, other]);
});

test('while the store is known to be away nothing is begun, and what it has is read', async () => {
  await dock.create('a');
  await put('/f.txt', 'stored');
  await dock.create('b');
  await put('/f.txt', 'of b', 'b');
  await away();
  const refused = [put('/f.txt', 'refused'), dock.run('a', 'echo refused > f.txt'), put('/f.txt', 'refused', 'b')];
  for (const one of refused) expect(await caught(one)).toEqual(notReplicated());
  // That of the other one is stored; of this one something is not.
  expect(await dock.get('b', '/f.txt')).toBe('of b');
  expect(await caught(dock.get('a', '/f.txt'))).toEqual(notReplicated('local'));
  await comesBack();
  expect(await dock.get('a', '/f.txt')).toBe('stored');
  expect(await dock.get('a', '/lost.txt')).toBe('before');
  expect(await inReplica('/lost.txt')).toBe('before');
  await put('/f.txt', 'again');
  expect(await inReplica('/f.txt')).toBe('again');
});

test('a store whose answer was lost has the segment, which is not made twice', async () => {
  await dock.create('a');
  await put('/f.txt', 'one');
  store.answersLost = 1;
  expect(await caught(put('/f.txt', 'two'))).toEqual(notReplicated('local'));
  await vi.waitFor(() => expect(replica.uploads.away).toBeNull(), SOON);
  expect(await dock.get('a', '/f.txt')).toBe('two');
  expect(new Set(store.stored).size).toBe(store.stored.length);
});

test('a filing is done, and says when its last segment is not there yet', async () => {
  await dock.create('a');
  await put('/f.txt', 'one');
  await away();
  expect(await caught(dock.sandboxes.suspend('a', REQUEST))).toEqual(notReplicated('local'));
  expect((await dock.registry.instances.get('a'))?.state).toBe('suspended');
  expect(await caught(dock.get('a', '/f.txt'))).toEqual(notReplicated('local'));
  await comesBack();
  expect(await dock.get('a', '/f.txt')).toBe('one');
  expect(await inReplica('/lost.txt')).toBe('before');
});

test('a lost segment begins a series, and nothing is answered before its base is there', async () => {
  await dock.create('a');
  await put('/f.txt', 'one');
  store.hold();
  const written = put('/f.txt', 'two');
  await vi.waitFor(() => expect(replica.uploads.waiting('a')).not.toEqual([]), SOON);
  const first = (await replica.restore('a')).series;
  for (const { path } of replica.uploads.waiting('a')) rmSync(path);
  store.release();
  await written;
  expect(await inReplica('/f.txt')).toBe('two');
  expect((await replica.restore('a')).series).not.toBe(first);
  expect(replica.gaps).toEqual(['a segment was lost before it was stored']);
});

test('what wakes or is filed as soon as it was suspended goes on with its series, and no answer waits for its rest', async () => {
  replicate = { kind: 'every', everyMs: 1000 };
  await dock.create('a');
  await put('/f.txt', 'first');
  await replica.files.flush('a' as InstanceId);
  const { series } = await replica.restore('a');
  for (const text of ['second', 'third']) {
    await put('/f.txt', text);
    await dock.sandboxes.suspend('a', REQUEST);
    await dock.sandboxes.resume('a', REQUEST);
  }
  await put('/f.txt', 'last');
  await dock.sandboxes.suspend('a', REQUEST);
  store.hold();
  await replica.files.answers.whenInStep('a' as InstanceId);
  store.release();
  await dock.sandboxes.freeze('a', REQUEST);
  await replica.files.flush('a' as InstanceId);
  await vi.waitFor(async () => expect(await inReplica('/f.txt')).toBe('last'), SOON);
  expect((await replica.restore('a')).series).toBe(series);
  expect(replica.gaps).toEqual([]);
});

test('a change between classes that ship holds at once, and one from or to none from the next wake', async () => {
  replicate = { kind: 'every', everyMs: 3_600_000 };
  await dock.create('a');
  await put('/f.txt', 'one');
  const rowOf = async () => ({ ...(await dock.registry.instances.get('a')), id: instanceId('a') }) as never;
  replicate = { kind: 'sync' };
  dock.sandboxes.reclassified(await rowOf());
  expect(replica.files.describe(await rowOf())).toMatchObject({ replicate: 'sync', isFromNextWake: false });
  await put('/f.txt', 'two');
  expect(await inReplica('/f.txt')).toBe('two');
  replicate = { kind: 'off' };
  expect(replica.files.describe(await rowOf())).toMatchObject({ replicate: 'off', isFromNextWake: true });
  await put('/f.txt', 'three');
  await dock.sandboxes.suspend('a', REQUEST);
  await put('/f.txt', 'four');
  replicate = { kind: 'sync' };
  dock.sandboxes.reclassified(await rowOf());
  expect(replica.files.describe(await rowOf())).toMatchObject({ replicate: 'sync', isFromNextWake: true });
});

test('two readers that race a writer never see what the replica lacks', async () => {
  await dock.create('a');
  await put('/n.txt', '0');
  store.delayMs = 5;
  let isOver = false;
  const seen: [number, number][] = [];
  const reader = async () => {
    while (!isOver) {
      const read = Number(await dock.get('a', '/n.txt'));
      seen.push([read, Number(await inReplica('/n.txt'))]);
    }
  };
  const readers = [reader(), reader()];
  for (let n = 1; n <= 60; n += 1) await put('/n.txt', `${n}`);
  isOver = true;
  await Promise.all(readers);
  expect(seen.filter(([read, stored]) => stored < read)).toEqual([]);
  expect(seen.length).toBeGreaterThan(4);
});

test('a hot call with nothing to ship asks the registry no more often than without', async () => {
  await dock.create('a');
  await dock.run('a', 'true');
  const get = vi.spyOn(dock.registry.instances as { get: (id: InstanceId) => unknown }, 'get');
  await dock.run('a', 'true');
  expect(get).toHaveBeenCalledTimes(0);
});
