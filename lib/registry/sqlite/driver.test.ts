import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { registryDriver } from '../drivers.ts';
import { driverContract } from '../testing/driver-suite.ts';
import { THRESHOLDS } from '../testing/fixtures.ts';
import { fileDriver } from '../testing/open-test-registry.ts';
import { realPathOf } from './real-path.ts';

/** A folder on a disk of its own, where the machine has one beside that of temporary files. */
const OTHER_DISK = ['/dev/shm', '/var/tmp'].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
);

let folder: string;
const made: string[] = [];
const makeFolder = (parent = tmpdir()) => {
  const one = realpathSync(mkdtempSync(join(parent, 'winterdock-sqlite-driver-')));
  made.push(one);
  return one;
};
const discard = async () => {
  for (const one of made.splice(0)) rmSync(one, { recursive: true, force: true });
};
beforeEach(() => {
  folder = makeFolder();
});
afterEach(discard);

driverContract('the driver of an SQLite file', {
  async place() {
    const path = join(makeFolder(), 'registry.sqlite');
    return () => fileDriver(path);
  },
  discard,
});

driverContract('the driver of a link to an SQLite file', {
  async place() {
    const root = makeFolder();
    mkdirSync(join(root, 'disk'));
    symlinkSync('disk/file', join(root, 'link'));
    return () => fileDriver(join(root, 'link'));
  },
  discard,
});

test('a path leads through links to the file and its folders, also where nothing is there yet', () => {
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  symlinkSync('a/b', join(folder, 'to'));
  symlinkSync('../../none', join(folder, 'a/b/up'));
  symlinkSync('up', join(folder, 'a/b/further'));
  symlinkSync('circle', join(folder, 'circle'));
  symlinkSync('none/../turns', join(folder, 'turns'));
  const lead = (path: string) => realPathOf(join(folder, path));
  expect(lead('to')).toBe(join(folder, 'a/b'));
  expect(lead('to/x/y')).toBe(join(folder, 'a/b/x/y'));
  expect(lead('to/up')).toBe(join(folder, 'none'));
  expect(lead('to/further')).toBe(join(folder, 'none'));
  expect(lead('circle')).toBe(join(folder, 'circle'));
  expect(lead('turns')).toBe(join(folder, 'turns'));
  expect(realPathOf('/')).toBe('/');
});

test.each([
  ['on the same disk', tmpdir()],
  ['on another disk', OTHER_DISK],
])('a head beside a link %s moves to the file when the registry is opened by who has locked it', async (_, disk) => {
  if (disk === undefined) return;
  const link = join(makeFolder(disk), 'link');
  const file = join(folder, 'file');
  symlinkSync(file, link);
  if (disk === OTHER_DISK) expect(statSync(disk).dev).not.toBe(statSync(folder).dev);
  writeFileSync(`${link}.head`, 'signed');
  const beside = fileDriver(link);
  await (await beside.open({ thresholds: THRESHOLDS })).close();
  expect([beside.headPath, readFileSync(`${link}.head`, 'utf8')]).toEqual([`${link}.head`, 'signed']);
  const driver = fileDriver(link);
  const unlock = await driver.lock(folder);
  await (await driver.open({ thresholds: THRESHOLDS })).close();
  await unlock();
  expect([driver.headPath, readFileSync(`${file}.head`, 'utf8')]).toEqual([`${file}.head`, 'signed']);
  expect([existsSync(`${link}.head`), lstatSync(link).isSymbolicLink()]).toEqual([false, true]);
  expect(readdirSync(folder).toSorted()).toEqual(['file', 'file.head']);
});

test('copies that upgrades kept are removed beside the file and beside the link that an earlier version took for it', async () => {
  mkdirSync(join(folder, 'disk'));
  symlinkSync('disk/file', join(folder, 'link'));
  for (const name of ['disk/file.before-9', 'disk/file.unfinished', 'link.before-8', 'disk/other.before-9']) {
    writeFileSync(join(folder, name), 'everything');
  }
  const registry = await fileDriver(join(folder, 'link')).open({ thresholds: THRESHOLDS });
  expect(await registry.storage.keptCopies()).toEqual(['file.before-9', 'file.unfinished', 'link.before-8']);
  expect(await registry.storage.removeKeptCopies()).toBe(3);
  expect(await registry.storage.keptCopies()).toEqual([]);
  expect(readdirSync(folder, { recursive: true }).filter((name) => /before|unfinished/.test(String(name)))).toEqual([
    'disk/other.before-9',
  ]);
  await registry.close();
});

test('an empty file, and one with everything in its log, are told from a registry', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(await fileDriver(file).presence()).toEqual({ kind: 'empty' });
  writeFileSync(`${file}-wal`, 'log');
  expect(await fileDriver(file).presence()).toEqual({ kind: 'log_only', logBytes: 3 });
});

test('a registry in memory keeps nothing, and is made anew each time', async () => {
  const driver = registryDriver({ driver: 'memory' });
  const registry = await driver.open({ thresholds: THRESHOLDS });
  expect(await registry.storage.status()).toMatchObject({ path: null, logBytes: 0, checkpointed: null });
  expect([await registry.storage.keptCopies(), await registry.storage.emptyLog()]).toEqual([[], true]);
  await registry.close();
  expect([driver.isKept, driver.headPath, await driver.presence()]).toEqual([false, null, { kind: 'missing' }]);
  await (await driver.lock(folder))();
  await (await driver.lock(folder))();
  for (const read of [driver.inspect(), driver.readLive(), driver.readLedger()]) {
    await expect(read).rejects.toMatchObject({ code: 'not_found' });
  }
});
