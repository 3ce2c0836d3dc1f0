import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { observeEffects } from '../base/effects.ts';
import { findStartRefusal } from '../ledger/start-check.ts';
import { THRESHOLDS } from '../registry/testing/fixtures.ts';
import { driverOfTests, loseRegistry, openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import { closeToRest, openLive } from '../vfs/open.ts';
import { createReaders } from '../vfs/readers.ts';
import { tmpFolder, vfsPath } from '../vfs/testing/tmp-files.ts';
import type { Readers } from '../vfs/types.ts';
import { examine } from './examine.ts';
import { orphanOf } from './findings.ts';
import { adopt } from './repair.ts';

const LIMITS = { maxBytes: 2 ** 30, maxFileBytes: 2 ** 20 };
const clock = new FakeClock();

let readers: Readers;
beforeAll(async () => {
  readers = createReaders({ maxFileBytes: LIMITS.maxFileBytes });
  await readers.start();
});
afterAll(() => readers.stop());

/** A file of a sandbox with one file in it, at rest. */
function vfsFile(path: string, content: string): string {
  const vfs = openLive(path, { ...LIMITS, mustExist: false });
  vfs.put(vfsPath('/kept'), Buffer.from(content));
  closeToRest(vfs);
  return path;
}

async function contentOf(path: string): Promise<string> {
  const read = await readers.read({ path, mode: 'rest' }, { op: 'get', volume: 'workspace', path: vfsPath('/kept') });
  return Buffer.from(read.content ?? []).toString();
}

/** A data folder without a registry: one file in each drawer, one that was set aside. */
async function lostFolder(): Promise<string> {
  const folder = tmpFolder();
  await loseRegistry(folder);
  mkdirSync(join(folder, 'live/one'), { recursive: true });
  mkdirSync(join(folder, 'orphans'));
  vfsFile(join(folder, 'live/one/vfs.sqlite'), 'of one');
  const { cold, archive } = createDiskDrawers(folder);
  await Promise.all([cold.prepare(), archive.prepare()]);
  await cold.put(vfsFile(join(folder, 'two'), 'of two'), 'two');
  await archive.put(vfsFile(join(folder, 'three'), 'of three'), 'three');
  rmSync(join(folder, 'three'));
  renameSync(vfsFile(join(folder, 'four'), 'of four'), join(folder, 'orphans/1700000000000-four-four.sqlite'));
  return folder;
}

const locationOf = (folder: string) => ({
  dataFolder: folder,
  driver: driverOfTests(folder),
  keysFolder: folder,
  drawers: createDiskDrawers(folder),
});

async function adoptAll(folder: string, keys: string[] = []) {
  const location = locationOf(folder);
  const examined = await examine({ location, readers: null });
  const registry = await location.driver.open({ thresholds: THRESHOLDS, clock });
  try {
    return await adopt({ ...location, registry, readers, clock }, examined, {
      tenant: 'acme',
      keys,
      tenantOf: async () => null,
    });
  } finally {
    await registry.close();
  }
}

async function rowsIn(folder: string) {
  const registry = await openRegistryOfTests(folder, { clock });
  try {
    const rows = await registry.instances.withFile('', 100);
    return rows.map(({ id, state, vfsPath, tenant, pending, fault }) => ({
      id,
      state,
      vfsPath,
      tenant,
      pending,
      fault,
    }));
  } finally {
    await registry.close();
  }
}

const ROWS = [
  { id: 'four', state: 'frozen', vfsPath: 'cold/four.sqlite' },
  { id: 'one', state: 'suspended', vfsPath: 'live/one/vfs.sqlite' },
  { id: 'three', state: 'archived', vfsPath: 'archive/three.sqlite.zst' },
  { id: 'two', state: 'frozen', vfsPath: 'cold/two.sqlite' },
].map((row) => ({ ...row, tenant: 'acme', pending: null, fault: null }));

test('without a registry and a head every file gets a row by its key, in the state of its drawer', async () => {
  const folder = await lostFolder();
  expect((await adoptAll(folder)).refused).toEqual([]);
  expect(await rowsIn(folder)).toEqual(ROWS);
  expect(await contentOf(join(folder, 'cold/four.sqlite'))).toBe('of four');
  const location = locationOf(folder);
  expect((await examine({ location, readers })).findings).toEqual([]);
});

test('taking back that fails at any effect may be run again, and until it is done a start is refused', async () => {
  const whole = await lostFolder();
  onTestFinished(() => observeEffects(null));
  let at = 0;
  for (let failed = true; failed; at += 1) {
    const folder = tmpFolder();
    cpSync(whole, folder, { recursive: true, preserveTimestamps: true });
    await loseRegistry(folder);
    let seen = 0;
    observeEffects({
      before: () => {
        seen += 1;
        if (seen > at) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
      },
    });
    failed = await adoptAll(folder).then(
      ({ refused }) => refused.length > 0,
      () => true,
    );
    observeEffects(null);
    const location = locationOf(folder);
    const files = ['live/one/vfs.sqlite', 'cold/two.sqlite', 'archive/three.sqlite.zst'];
    expect(
      files.filter((path) => !existsSync(join(folder, path))),
      `after ${at}`,
    ).toEqual([]);
    // All rows may be there when only the signature failed: then there is nothing left that a start could take for
    // nobody's.
    if (failed && (await rowsIn(folder)).length < ROWS.length - 1) {
      expect(await findStartRefusal(location), `after ${at}`).not.toBeNull();
    }
    await adoptAll(folder);
    expect(await rowsIn(folder), `after ${at}`).toEqual(ROWS);
    expect(await findStartRefusal(location), `after ${at}`).toBeNull();
    rmSync(folder, { recursive: true });
  }
  expect(at).toBeGreaterThan(10);
});

test('a file that is not a sound sandbox’s is not adopted, and nothing is overwritten', async () => {
  const folder = await lostFolder();
  writeFileSync(join(folder, 'live/one/vfs.sqlite'), '');
  writeFileSync(join(folder, 'archive/three.sqlite.zst'), 'not compressed');
  vfsFile(join(folder, 'cold/UPPER.sqlite'), 'no id');
  const { refused, epoch } = await adoptAll(folder);
  expect(epoch).toBeNull();
  expect(refused).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/"one".* is empty/),
      expect.stringMatching(/"three".* is damaged: it does not expand/),
      expect.stringMatching(/"UPPER" is not the id/),
      expect.stringMatching(/^3 files without a row still/),
    ]),
  );
  expect((await rowsIn(folder)).map(({ id }) => id)).toEqual(['four', 'two']);
  expect(readFileSync(join(folder, 'archive/three.sqlite.zst'), 'utf8')).toBe('not compressed');
});

test('the name of a file that was set aside tells its id and its drawer', () => {
  const told = (name: string) => {
    const orphan = orphanOf(name);
    return orphan === null ? null : [orphan.id, orphan.drawer, orphan.setAsideMs];
  };
  expect(told('17-a-vfs.sqlite')).toEqual(['a', 'live', 17]);
  expect(told('17-a-b-vfs.sqlite')).toEqual(['a-b', 'live', 17]);
  expect(told('17-a-b-a-b.sqlite')).toEqual(['a-b', 'cold', 17]);
  expect(told('17-a-b-a-b.sqlite.zst')).toEqual(['a-b', 'archive', 17]);
  expect(told('17-a-b-a-c.sqlite')).toBeNull();
  expect(told('17-a-vfs.sqlite-wal')).toBeNull();
  expect(told('notes.txt')).toBeNull();
});
