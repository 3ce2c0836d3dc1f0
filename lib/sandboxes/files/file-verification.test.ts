/** The verification of a file at rest whose stat differs from the record. */

import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { registryOfTests } from '../../registry/testing/registry-of-tests.ts';
import { changeFileRecords } from '../../registry/testing/sql-of-tests.ts';
import { openAtRest } from '../../vfs/open.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';

const at = stage();

/** A copy of the data folder with other inodes and times, and an engine on it. */
async function dockOnCopy(change: (dataFolder: string) => Promise<void> = async () => {}): Promise<TestEngine> {
  const dataFolder = `${at.folder}-copy`;
  cpSync(at.folder, dataFolder, { recursive: true });
  await registryOfTests(dataFolder);
  await change(dataFolder);
  const dock = await startTestEngine({ dataFolder });
  onTestFinished(async () => {
    await dock.stop();
    rmSync(dataFolder, { recursive: true });
  });
  return dock;
}

const fileOf = async (dock: TestEngine, id: string) => (await dock.registry.instances.get(id))?.file;

/** Twelve sandboxes of several kinds in all drawers. Returns those that have files. */
async function fill(): Promise<string[]> {
  const { dock } = at;
  const ids: string[] = [];
  for (const kind of ['one', 'two']) {
    for (const state of ['active', 'suspended', 'frozen', 'archived'] as const) {
      const id = `${kind}-${state}`;
      await dock.create(id, { tenant: kind });
      await dock.put(id, '/x', `work of ${id}`);
      ids.push(id);
      if (state === 'active') continue;
      await dock.sandboxes.suspend(id, REQUEST);
      if (state !== 'suspended') await dock.sandboxes.freeze(id, REQUEST);
      if (state === 'archived') await dock.sandboxes.archive(id, REQUEST);
    }
  }
  await dock.create('never');
  return ids;
}

test.each([
  ['its stop had hashed everything', async () => {}],
  [
    'nothing had been hashed',
    (dataFolder: string) => changeFileRecords(dataFolder, { sha256: null, quickCheck: null }, "state <> 'archived'"),
  ],
] as const)('a plain copy of a stopped data folder boots, and every sandbox wakes, when %s', async (_, change) => {
  const ids = await fill();
  await at.dock.stop();
  const dock = await dockOnCopy(change);
  for (const id of ids) {
    expect(await dock.get(id, '/x'), id).toBe(`work of ${id}`);
    await dock.sandboxes.resume(id, REQUEST);
    expect(await dock.run(id, 'cat x'), id).toBe(`work of ${id}`);
  }
  expect(await dock.run('never', 'ls')).toBe('');
  expect(readdirSync(join(dock.config.dataFolder, 'orphans'))).toEqual([]);
});

test('a stop hashes the files that it files', async () => {
  for (const id of ['a', 'b']) {
    await at.dock.create(id);
    await at.dock.put(id, '/x', `work of ${id}`);
  }
  await at.dock.sandboxes.suspend('a', REQUEST);
  await at.restart();
  for (const id of ['a', 'b']) {
    expect(await fileOf(at.dock, id)).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  }
});

test.each(['suspended', 'frozen'] as const)(
  'two fresh %s files of equal header, size and age that were exchanged between two tenants are both refused',
  async (state) => {
    const files = { a: '', b: '' };
    for (const id of ['a', 'b'] as const) {
      await at.dock.create(id, { tenant: id });
      await at.dock.sandboxes.runPlan(id, 'suspended', REQUEST);
      if (state === 'frozen') await at.dock.sandboxes.freeze(id, REQUEST);
      files[id] = state === 'frozen' ? at.cold(id) : liveFile(at.dock, id);
    }
    expect(statSync(files.a).size).toBe(statSync(files.b).size);
    expect(readFileSync(files.a).subarray(0, 100).equals(readFileSync(files.b).subarray(0, 100))).toBe(true);
    await changeFileRecords(at.folder, { mtimeNs: '1000000000000000000', sha256: null, quickCheck: null });
    renameSync(files.a, `${files.a}.other`);
    renameSync(files.b, files.a);
    renameSync(`${files.a}.other`, files.b);
    for (const id of ['a', 'b'] as const) {
      utimesSync(files[id], 1e9, 1e9);
      expect(await fileOf(at.dock, id)).toMatchObject({
        sha256: null,
        identity: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      await expect(at.dock.sandboxes.resume(id, REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
      expect(await at.dock.registry.instances.get(id)).toMatchObject({ state, fault: 'corrupt' });
      // Force is for a repaired file, not for another sandbox's.
      await expect(at.dock.sandboxes.resume(id, REQUEST, { force: true })).rejects.toMatchObject({ code: 'corrupt' });
    }
    renameSync(files.a, `${files.a}.other`);
    renameSync(files.b, files.a);
    renameSync(`${files.a}.other`, files.b);
    for (const id of ['a', 'b'] as const) {
      await at.dock.sandboxes.resume(id, REQUEST, { force: true });
      expect((await at.dock.registry.instances.get(id))?.fault).toBeNull();
    }
  },
);

test('archived files that were swapped right after they were packed are neither read nor revived', async () => {
  for (const id of ['a', 'b']) {
    await at.dock.create(id, { tenant: id });
    await at.dock.put(id, '/x', `work of ${id}`);
    await at.dock.sandboxes.archive(id, REQUEST);
    expect(await fileOf(at.dock, id)).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  }
  const packed = (id: string) => join(at.folder, 'archive', `${id}.sqlite.zst`);
  const exchange = () => {
    for (const name of [packed, (id: string) => join(at.folder, 'archive', `${id}.json`)]) {
      renameSync(name('a'), name('c'));
      renameSync(name('b'), name('a'));
      renameSync(name('c'), name('b'));
    }
  };
  exchange();
  for (const id of ['a', 'b']) {
    await expect(at.dock.get(id, '/x')).rejects.toMatchObject({ code: 'corrupt' });
    const listed = at.dock.sandboxes.read(id, { op: 'list', volume: 'workspace', limit: 10 });
    await expect(listed).rejects.toMatchObject({ code: 'corrupt' });
    await expect(at.dock.sandboxes.revive(id, REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(at.dock.get(id, '/x')).rejects.toMatchObject({ code: 'corrupt' });
  }
  exchange();
  for (const id of ['a', 'b']) {
    expect(await at.dock.get(id, '/x')).toBe(`work of ${id}`);
    await at.dock.sandboxes.revive(id, REQUEST, { force: true });
    expect(await at.dock.run(id, 'cat x')).toBe(`work of ${id}`);
  }
});

test('clones of one file have their own identities once they have run, and a file of an older version gets one', async () => {
  await at.dock.create('origin');
  await at.dock.put('origin', '/x', 'kept');
  await at.dock.sandboxes.suspend('origin', REQUEST);
  mkdirSync(join(at.folder, 'staging'), { recursive: true });
  const origin = (await fileOf(at.dock, 'origin'))?.identity;
  const seen = new Set([origin]);
  for (const id of ['one', 'two']) {
    const copy = join(at.folder, 'staging', `${id}.sqlite`);
    await at.dock.sandboxes.copyOut('origin', copy, { volumes: ['workspace', 'memory'] });
    const vfs = openAtRest(copy);
    expect(vfs.db.prepare("SELECT target FROM vfs_node WHERE kind = 'counter'").get()).toEqual({ target: null });
    vfs.close();
    expect(readFileSync(copy).includes(origin ?? 'none')).toBe(false);
    await at.dock.create(id, { vfsPath: `live/${id}/vfs.sqlite` });
    mkdirSync(join(at.folder, 'live', id));
    cpSync(copy, liveFile(at.dock, id));
    await at.dock.sandboxes.resume(id, REQUEST);
    await at.dock.sandboxes.suspend(id, REQUEST);
    seen.add((await fileOf(at.dock, id))?.identity);
  }
  expect(seen.size).toBe(3);
  expect(seen.has(null)).toBe(false);
});

test('damage that is seen by looking raises the fault at once, and a second look does not raise it again', async () => {
  const { dock } = at;
  await dock.create('seen');
  await dock.put('seen', '/x', 'work');
  await dock.sandboxes.runPlan('seen', 'suspended', REQUEST);
  const path = liveFile(dock, 'seen');
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4200, 4300);
  writeFileSync(path, bytes);
  for (let look = 0; look < 2; look += 1) {
    await expect(dock.get('seen', '/x')).rejects.toMatchObject({ code: 'corrupt' });
  }
  expect(await dock.registry.instances.get('seen')).toMatchObject({ state: 'suspended', fault: 'corrupt' });
  const { rows } = await dock.registry.ledger.page({ instance: 'seen', type: 'fault.raised' }, 10);
  expect(rows).toMatchObject([{ reason: 'corrupt', via: 'system' }]);
});
