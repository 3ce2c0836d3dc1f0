/** Sandboxes whose drawers are in another process: filed files have no local path, and every guarantee holds. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Drawers } from '../../storage/drawer.ts';
import { stampFrom } from '../../storage/stamp.ts';
import { createObjectDrawers, type ObjectServer, startObjectServer } from '../../storage/testing/object-drawer.ts';
import { filesIn } from '../../testing/files-in.ts';
import type { Failpoint } from '../recovery/failpoints.ts';
import { REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';
import { fileRecord } from './file-verification.ts';
import { PREFETCH_SECONDS } from './prefetch.ts';

let server: ObjectServer;
beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

let dataFolder: string;
let drawers: Drawers;
let dock: TestEngine;
let breaksAt: Failpoint | null;

async function start(): Promise<void> {
  dock = await startTestEngine({
    dataFolder,
    drawers,
    failpoint: (step) => {
      if (step !== breaksAt) return;
      breaksAt = null;
      throw new Error(`broken at ${step}`);
    },
  });
}

beforeEach(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'winterdock-objects-'));
  drawers = createObjectDrawers({ url: server.url, dataFolder, bucket: basename(dataFolder) });
  breaksAt = null;
  await start();
});
afterEach(async () => {
  await dock.stop();
  rmSync(dataFolder, { recursive: true, force: true });
});

/** The files of a sandbox in drawers on the local disk, including listings and unfinished work. */
const onDisk = () => filesIn(dataFolder).filter((path) => /^(live|cold|archive|snapshots|orphans)\//.test(path));
const LIVE = 'live/a/vfs.sqlite';
const rowOf = async (id: string) => (await dock.registry.instances.get(id)) ?? expect.fail(`no row of ${id}`);

async function objects(): Promise<string[]> {
  const all: string[] = [];
  for (const drawer of Object.values(drawers)) {
    for await (const keys of drawer.keyPages()) all.push(...keys.map((key) => drawer.at(key).address));
  }
  return all.sort();
}

/** A sandbox with a file in each volume, suspended or further. */
async function filed(id: string, state: 'suspended' | 'frozen' | 'archived'): Promise<void> {
  await dock.create(id);
  await dock.put(id, '/x', `work of ${id}`);
  await dock.put(id, '/m', `memory of ${id}`, 'memory');
  await dock.put(id, '/t', 'scratch', 'tmp');
  await dock.sandboxes.suspend(id, REQUEST);
  if (state !== 'suspended') await dock.sandboxes.freeze(id, REQUEST);
  if (state === 'archived') await dock.sandboxes.archive(id, REQUEST);
}

test('a frozen sandbox is only an object, is read from there, and comes back without its tmp', async () => {
  await filed('a', 'frozen');
  expect(onDisk()).toEqual([]);
  expect(await objects()).toEqual(['cold/a.sqlite']);
  expect(await rowOf('a')).toMatchObject({
    vfsPath: 'cold/a.sqlite',
    file: { inode: '', tag: expect.stringMatching(/v\d+/), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  expect(await dock.get('a', '/x')).toBe('work of a');
  expect(await dock.get('a', '/t', 'tmp')).toBe('scratch');
  expect(onDisk()).toEqual([]);
  expect(await dock.run('a', 'cat x /memory/m; cat /tmp/t')).toMatch(/^work of amemory of a.*No such file/s);
  expect(await objects()).toEqual([]);
  await dock.sandboxes.suspend('a', REQUEST);
  expect(onDisk()).toEqual([LIVE]);
  expect((await rowOf('a')).file).not.toHaveProperty('tag');
});

test('an archived sandbox is a compressed object with a local listing, and is revived', async () => {
  await filed('a', 'archived');
  expect(await objects()).toEqual(['archive/a.sqlite.zst']);
  expect(onDisk()).toEqual(['archive/a.json']);
  expect((await dock.sandboxes.read('a', { op: 'list', volume: 'workspace', limit: 5 })).files).toHaveLength(1);
  expect(await dock.get('a', '/m', 'memory')).toBe('memory of a');
  await dock.sandboxes.revive('a', REQUEST);
  expect(await objects()).toEqual([]);
  expect(await dock.run('a', 'cat x')).toBe('work of a');
});

test.each(['frozen', 'archived'] as const)('%s goes to suspended, and to deleted, without a process', async (state) => {
  await filed('a', state);
  expect(await dock.sandboxes.runPlan('a', 'suspended', REQUEST)).toMatchObject({ state: 'suspended', vfsPath: LIVE });
  expect(await objects()).toEqual([]);
  expect(onDisk()).toEqual([LIVE]);
  expect(await dock.get('a', '/x')).toBe('work of a');
  await filed('b', state);
  await dock.sandboxes.runPlan('b', 'deleted', REQUEST);
  expect(await objects()).toEqual([]);
  expect(onDisk()).toEqual([LIVE]);
});

test.each(['frozen', 'archived'] as const)('%s is prefetched, and goes back when nothing uses it', async (state) => {
  await filed('a', state);
  const before = await objects();
  await dock.sandboxes.prefetch('a', REQUEST);
  expect(await rowOf('a')).toMatchObject({ state, vfsPath: LIVE });
  expect(onDisk()).toContain(LIVE);
  dock.clock.advance(PREFETCH_SECONDS + 1);
  await dock.sandboxes.tick();
  expect(await objects()).toEqual(before);
  expect(onDisk()).not.toContain(LIVE);
  expect((await rowOf('a')).vfsPath).toBe(before[0]);
  expect(await dock.get('a', '/x')).toBe('work of a');
});

test('an operation that fails between the object and the row is rolled back, and can be repeated', async () => {
  await filed('a', 'suspended');
  breaksAt = 'freeze.moved';
  await expect(dock.sandboxes.freeze('a', REQUEST)).rejects.toThrow('broken');
  expect([await objects(), onDisk()]).toEqual([[], [LIVE]]);
  await dock.sandboxes.freeze('a', REQUEST);
  breaksAt = 'resume.brought';
  await expect(dock.sandboxes.resume('a', REQUEST)).rejects.toThrow('broken');
  expect([await objects(), onDisk()]).toEqual([['cold/a.sqlite'], []]);
  breaksAt = 'archive.packed';
  await expect(dock.sandboxes.archive('a', REQUEST)).rejects.toThrow('broken');
  expect([await objects(), onDisk()]).toEqual([['cold/a.sqlite'], []]);
  await dock.sandboxes.archive('a', REQUEST);
  breaksAt = 'resume.opened';
  await expect(dock.sandboxes.revive('a', REQUEST)).rejects.toThrow('broken');
  expect(await objects()).toEqual(['archive/a.sqlite.zst']);
  await dock.sandboxes.revive('a', REQUEST);
  expect(await dock.run('a', 'cat x')).toBe('work of a');
});

test('a deletion that fails half-way leaves the object where it was, with what is known of it', async () => {
  await filed('a', 'frozen');
  const { file, bytes } = await rowOf('a');
  breaksAt = 'delete.intent';
  await expect(dock.sandboxes.runPlan('a', 'deleted', REQUEST)).rejects.toThrow('broken');
  expect(await rowOf('a')).toMatchObject({ state: 'archived', vfsPath: 'cold/a.sqlite', file, bytes });
  expect(await dock.get('a', '/x')).toBe('work of a');
  await dock.sandboxes.runPlan('a', 'deleted', REQUEST);
  expect(await objects()).toEqual([]);
});

test('an object with another tag is hashed: the same bytes are accepted, others are refused, none are missing', async () => {
  await filed('a', 'frozen');
  await filed('b', 'frozen');
  const cold = drawers.cold;
  const copy = join(dataFolder, 'copy.sqlite');
  await cold.at('a').read(async (path) => writeFileSync(copy, readFileSync(path)));
  await cold.at('a').remove();
  await cold.put(copy, 'a');
  expect(await dock.get('a', '/x')).toBe('work of a');
  expect(await dock.run('a', 'cat x')).toBe('work of a');
  await cold.at('b').remove();
  await expect(dock.sandboxes.resume('b', REQUEST)).rejects.toMatchObject({ code: 'missing_file' });
  await cold.put(copy, 'b');
  await expect(dock.sandboxes.resume('b', REQUEST, { force: false })).rejects.toMatchObject({
    code: expect.stringMatching(/corrupt|missing_file/),
  });
  expect((await cold.at('b').stat())?.size).toBe(readFileSync(copy).length);
});

test('a sandbox is made from a snapshot that is an object, and has its own file once it has run', async () => {
  await filed('a', 'suspended');
  const staged = join(dataFolder, 'staged.sqlite');
  const { sha256 } = await dock.sandboxes.copyOut('a', staged, { volumes: ['workspace'] });
  await drawers.snapshot.put(staged, sha256);
  rmSync(staged);
  const { address, stat } = drawers.snapshot.at(sha256);
  const file = fileRecord(stampFrom((await stat()) ?? expect.fail('no object')), { sha256, quickCheck: 'ok' });
  await dock.create('clone', { vfsPath: address, file });
  expect(await dock.get('clone', '/x')).toBe('work of a');
  expect(await dock.run('clone', 'cat x')).toBe('work of a');

  await filed('b', 'frozen');
  const restored = await dock.sandboxes.restore('b', { name: 'snap', hash: sha256, bytes: 1 }, REQUEST);
  expect(restored).toMatchObject({ state: 'frozen', vfsPath: 'live/b/vfs.sqlite' });
  expect(await dock.get('b', '/x')).toBe('work of a');
  expect(onDisk().filter((path) => path.startsWith('orphans/'))).toEqual([expect.stringMatching(/b\.sqlite$/)]);
  expect(await objects()).toEqual([address]);
});

test('its raw file is copied as stored, and an object without a row is set aside at the next start', async () => {
  await filed('a', 'archived');
  const copied = await dock.sandboxes.copyRaw('a', dataFolder);
  expect(copied).toMatchObject({ packed: true, log: null, bytes: readFileSync(copied.file).length });
  await drawers.cold.put(copied.file, 'nobody');
  rmSync(copied.file, { force: true });
  await dock.stop();
  await start();
  dock.sandboxes.start();
  await expect.poll(objects).toEqual(['archive/a.sqlite.zst']);
  expect(onDisk()).toContainEqual(expect.stringMatching(/^orphans\/\d+-nobody-nobody\.sqlite$/));
});
