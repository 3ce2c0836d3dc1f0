import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { HeldStore } from '../replication/testing/held-store.ts';
import { instanceId } from '../testing/plain-ids.ts';
import type { InstanceProcess } from '../workers/protocol/instance.ts';
import { type ReplicaStage, startReplica } from './testing/replica-stage.ts';
import { liveFile, observeOpens, REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

const SOON = { timeout: 240_000 };
let folder: string;
let dock: TestEngine;
let replica: ReplicaStage;
const opened: InstanceProcess[] = [];

const begin = async (options: Partial<Parameters<typeof startReplica>[0]> = {}) => {
  const dataFolder = join(folder, 'data');
  replica = await startReplica({ folder: join(folder, 'replica'), dataFolder, clock: systemClock, ...options });
  dock = await startTestEngine({ dataFolder, replica: replica.files });
  observeOpens(dock.pool, (process) => opened.push(process));
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-replica-'));
});
afterEach(async () => {
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
const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
const shipped = (id: string) => replica.files.flush(instanceId(id));
/** Waits until the replica has the file at rest. */
const restShipped = (id: string) =>
  vi.waitFor(async () => {
    const row = await dock.registry.instances.get(id);
    if (row === null) throw new Error('There is no row.');
    const point = replica.files.pointOf({ ...row, id: instanceId(id) } as never);
    expect(point).toMatchObject({ as: 'filed', behindMs: 0 });
    return row;
  }, SOON);

test('who writes without a pause is as far behind as the newest commit that the store has, and not since they began', async () => {
  const held = new HeldStore();
  await begin({ between: held.over });
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  held.delayMs = 300;
  const stored: number[] = [];
  replica.uploads.onShipped(() => stored.push(performance.now()));
  for (let round = 0; stored.length < 6; round += 1) await dock.run('a', `echo ${round} > f.txt`);
  const row = await dock.registry.instances.get('a');
  const { behindMs } = replica.files.pointOf({ ...row, id: instanceId('a') } as never);
  // What was cut after the second one was stored has everything from before.
  expect(behindMs).toBeLessThan(performance.now() - (stored[1] ?? 0));
});

test('what was committed is elsewhere, each second of it by itself', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  const first = await replica.restore('a');
  await dock.run('a', 'echo two > f.txt; head -c 300000 /dev/urandom > big');
  await shipped('a');
  const second = await replica.restore('a');
  expect(textIn(first.path, '/f.txt')).toBe('one\n');
  expect(textIn(second.path, '/f.txt')).toBe('two\n');
  expect(second.series).toBe(first.series);
  expect(textIn((await replica.restore('a', first.timeMs)).path, '/f.txt')).toBe('one\n');
  expect(replica.gaps).toEqual([]);
});

test('a restore at a filing has exactly the bytes that were filed, and a wake goes on from there', async () => {
  await begin();
  await dock.create('a');
  const allSeries = new Set<string>();
  for (const round of [1, 2, 3]) {
    await dock.run('a', `echo ${round} > f.txt; head -c ${round * 40_000} /dev/urandom > big; rm -f other`);
    const row = await dock.sandboxes.suspend('a', REQUEST);
    await restShipped('a');
    const restored = await replica.restore('a');
    expect(restored.sha256).toBe(row.file?.sha256);
    expect(restored.sha256).toBe(hashOf(liveFile(dock, 'a')));
    allSeries.add(restored.series);
    // Of what rests and is shipped nothing is in the spool, no folder either.
    await vi.waitFor(() => expect(readdirSync(join(folder, 'data/replica/spool'))).toEqual([]), SOON);
  }
  expect(allSeries.size).toBe(1);
  expect(replica.gaps).toEqual([]);
});

test('freezing and archiving keep the replica, and what is revived goes on in it', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await dock.sandboxes.suspend('a', REQUEST);
  await restShipped('a');
  const before = await replica.restore('a');
  await dock.sandboxes.freeze('a', REQUEST);
  await dock.sandboxes.archive('a', REQUEST);
  await dock.sandboxes.resume('a', REQUEST);
  await dock.run('a', 'echo two >> f.txt');
  await shipped('a');
  const after = await replica.restore('a');
  expect(textIn(after.path, '/f.txt')).toBe('one\ntwo\n');
  expect(after.series).toBe(before.series);
});

test('what a process committed before it was killed is in the replica before its file is settled', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  await dock.run('a', 'echo two > f.txt');
  const process = opened.at(-1);

  await process?.kill('killed');
  await vi.waitFor(async () => expect((await dock.registry.instances.get('a'))?.state).toBe('suspended'), SOON);
  const row = await restShipped('a');
  const restored = await replica.restore('a');
  expect(textIn(restored.path, '/f.txt')).toBe('two\n');
  expect(restored.sha256).toBe(row.file?.sha256 ?? hashOf(liveFile(dock, 'a')));
  expect(replica.gaps).toEqual([]);
});

test('a store that is away for a while loses no moment', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  const store = join(folder, 'replica', 'store');
  renameSync(store, `${store}-away`);
  await dock.run('a', 'echo two > f.txt');
  await vi.waitFor(() => expect(replica.uploads.away).not.toBeNull(), SOON);
  await dock.run('a', 'echo three > f.txt');
  renameSync(`${store}-away`, store);
  await shipped('a');
  const restored = await replica.restore('a');
  expect(textIn(restored.path, '/f.txt')).toBe('three\n');
  expect(replica.gaps).toEqual([]);
});

test('a full spool costs moments, said as a gap, and not the state; no base is written until there is room', async () => {
  await begin({ spoolBytes: 100_000 });
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  const store = join(folder, 'replica', 'store');
  renameSync(store, `${store}-away`);
  const log = () => statSync(`${liveFile(dock, 'a')}-wal`).size;
  const logs: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    await dock.run('a', 'head -c 1000000 /dev/urandom > big');
    await replica.files.shipNow(instanceId('a'));
    logs.push(log());
    if (round === 2) await vi.waitFor(() => expect(replica.uploads.away).not.toBeNull(), SOON);
  }
  expect(replica.gaps).toEqual(['the spool is full']);
  // The log is written over all the same, and nothing waits.
  expect(Math.max(...logs)).toBeLessThan(16 * 1024 * 1024);
  expect(replica.uploads.bytes).toBe(0);
  renameSync(`${store}-away`, store);
  await dock.run('a', 'echo last > f.txt');
  await vi.waitFor(async () => {
    await shipped('a');
    expect(textIn((await replica.restore('a')).path, '/f.txt')).toBe('last\n');
  }, SOON);
});

test('after a kill of the server the history goes on with a base, and earlier moments stay', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  const before = await replica.restore('a');
  await dock.run('a', 'echo two > f.txt');
  await dock.abandon();
  await replica.close();
  await begin();
  await vi.waitFor(async () => expect((await dock.registry.instances.get('a'))?.state).toBe('suspended'), SOON);
  await dock.run('a', 'echo three >> f.txt');
  await shipped('a');
  const after = await replica.restore('a');
  expect(textIn(after.path, '/f.txt')).toBe('two\nthree\n');
  expect(after.series).not.toBe(before.series);
  expect(textIn((await replica.restore('a', before.timeMs)).path, '/f.txt')).toBe('one\n');
});
