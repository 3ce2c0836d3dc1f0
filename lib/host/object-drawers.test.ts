/**
 * The whole server, and the commands beside it, on drawers in another process: what looks at every file finds it by the
 * drawers, and no file at rest lies on the local disk.
 */

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeBackup } from '../backup/backup.ts';
import { openBackup } from '../backup/open-backup.ts';
import { restoreAll } from '../backup/restore.ts';
import { restoreOne } from '../backup/restore-one.ts';
import { openFolderTarget } from '../backup/store.ts';
import { expectWhole, populate } from '../backup/testing/server-content.ts';
import { systemClock } from '../base/clock.ts';
import { type Config, readConfig } from '../base/config.ts';
import { parseInstanceId } from '../base/ids.ts';
import { openSigner } from '../base/signing.ts';
import type { Lineage, Storage } from '../contract/schema.ts';
import { examine } from '../doctor/examine.ts';
import { adopt, fix } from '../doctor/repair.ts';
import { findStartRefusal } from '../ledger/start-check.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { THRESHOLDS } from '../registry/testing/fixtures.ts';
import { driverOfTests, loseRegistry } from '../registry/testing/registry-of-tests.ts';
import type { Drawers } from '../storage/drawer.ts';
import { createObjectDrawers, type ObjectServer, startObjectServer } from '../storage/testing/object-drawer.ts';
import { filesIn, namesIn } from '../testing/files-in.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { sharedReaders } from '../testing/shared-readers.ts';

let store: ObjectServer;
beforeAll(async () => {
  store = await startObjectServer();
});
afterAll(() => store.stop());

let root: string;
const servers: TestServer[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-objects-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A data folder, its settings, and drawers of its own. */
interface Site {
  config: Config;
  dataFolder: string;
  driver: RegistryDriver;
  keysFolder: string;
  drawers: Drawers;
}

function site(name: string): Site {
  const dataFolder = join(root, name);
  mkdirSync(dataFolder);
  const config = readConfig({ WB_DATA: dataFolder, WB_LOG: 'silent' });
  const drawers = createObjectDrawers({ url: store.url, dataFolder, bucket: `${basename(root)}-${name}` });
  return { config, dataFolder, keysFolder: dataFolder, driver: driverOfTests(dataFolder), drawers };
}

async function serve({ dataFolder, drawers }: Site): Promise<TestServer> {
  const server = await startServer({ folder: dataFolder, drawers, settings: { WB_POOL: '0', WB_LOG: 'silent' } });
  servers.push(server);
  return server;
}

/** A suspended, a frozen and an archived sandbox of `acme`, and a snapshot and a blueprint. */
async function fill({ call }: TestServer): Promise<{ snapshot: string }> {
  for (const id of ['suspended', 'frozen', 'archived']) {
    await call('POST', '/api/instances', { id, tenant: 'acme' });
    await call('PUT', `/api/instances/${id}/volumes/workspace/what`, id);
    await call('POST', `/api/instances/${id}/suspend`, {});
    if (id !== 'suspended') expect((await call('POST', `/api/instances/${id}/plan`, { to: id })).status).toBe(200);
  }
  const { id: snapshot } = (await call<{ id: string }>('POST', '/api/instances/suspended/snapshots', {})).json;
  await call('POST', '/api/blueprints', { name: 'base', from_instance: 'frozen' });
  return { snapshot };
}

async function objects({ drawers }: Site): Promise<string[]> {
  const all: string[] = [];
  for (const drawer of Object.values(drawers)) {
    for await (const keys of drawer.keyPages()) all.push(...keys.map((key) => drawer.at(key).address));
  }
  return all.sort();
}

/** Files of drawers on the local disk: listings alone are expected. */
const onDisk = ({ dataFolder }: Site) =>
  filesIn(dataFolder).filter((path) => /^(cold|archive|snapshots|blueprints)\//.test(path));

async function look(at: Site, full = true) {
  const readers = full ? sharedReaders(at.config) : null;
  try {
    return await examine({ location: at, readers });
  } finally {
    await readers?.stop();
  }
}

/** Runs one of the repairs of `doctor`, as its command does. */
async function repair<T>(at: Site, work: (parts: Parameters<typeof fix>[0]) => Promise<T>): Promise<T> {
  const { dataFolder, keysFolder, driver, drawers } = at;
  const registry = await driver.open({ thresholds: THRESHOLDS, clock: systemClock });
  const readers = sharedReaders(at.config);
  try {
    return await work({ dataFolder, keysFolder, driver, drawers, registry, readers, clock: systemClock });
  } finally {
    await readers.stop();
    await registry.close();
  }
}

const wrongIn = ({ findings }: Awaited<ReturnType<typeof look>>) =>
  findings.filter(({ weight }) => weight === 'wrong').map(({ kind, about }) => [kind, about]);

async function backUp(at: Site, folder: string) {
  const target = await openFolderTarget(folder);
  const readers = sharedReaders(at.config);
  try {
    const signer = openSigner(at.dataFolder);
    return await makeBackup({
      config: at.config,
      driver: at.driver,
      drawers: at.drawers,
      target,
      readers,
      signer,
      clock: systemClock,
      passphrase: null,
    });
  } finally {
    await readers.stop();
    await target.close();
  }
}

test('health, readiness and lineage say what the drawers say', async () => {
  const at = site('data');
  const server = await serve(at);
  const { snapshot } = await fill(server);
  await expect.poll(() => onDisk(at)).toEqual(['archive/archived.json']);
  expect(await objects(at)).toHaveLength(4);
  const { drawers } = (await server.call<Storage>('GET', '/api/settings/storage')).json;
  expect(drawers.map(({ drawer, rows, writable, same_disk }) => [drawer, rows, writable, same_disk])).toEqual([
    ['live', 1, true, true],
    ['cold', 1, true, false],
    ['archive', 1, true, false],
  ]);
  const { measured } = (await server.call<Storage>('POST', '/api/settings/storage/check', { what: 'drawers' })).json;
  const sizeOf = async (kind: keyof Drawers) => (await at.drawers[kind].usage(new AbortController().signal)).bytes;
  const listing = readFileSync(join(at.dataFolder, 'archive/archived.json')).length;
  expect(measured?.drawers).toEqual(
    expect.arrayContaining([
      { drawer: 'cold', files: 1, bytes: await sizeOf('cold') },
      { drawer: 'archive', files: 1, bytes: (await sizeOf('archive')) + listing },
      { drawer: 'snapshots', files: 1, bytes: await sizeOf('snapshot') },
      { drawer: 'blueprints', files: 1, bytes: await sizeOf('blueprint') },
    ]),
  );
  const { nodes } = (await server.call<Lineage>('GET', `/api/snapshots/${snapshot}/lineage`)).json;
  expect(nodes.find(({ id }) => id === snapshot)?.disk_bytes).toBe(await sizeOf('snapshot'));
  const ofFrozen = (await server.call<Lineage>('GET', '/api/instances/frozen/lineage')).json.nodes;
  expect(ofFrozen.find(({ id }) => id === 'frozen')?.disk_bytes).toBe(await sizeOf('cold'));
  expect((await server.call('GET', '/readyz')).status).toBe(200);

  at.drawers.archive.probe = () => Promise.reject(new Error('no answer'));
  at.drawers.archive.status = () => Promise.reject(new Error('no answer'));
  await expect.poll(async () => (await server.call('GET', '/readyz')).json.drawers).toEqual(['archive']);
  const [, , archive] = (await server.call<Storage>('GET', '/api/settings/storage')).json.drawers;
  expect(archive?.writable).toBe(false);
});

test('a forgotten tenant leaves no object, and others keep theirs', async () => {
  const at = site('data');
  const server = await serve(at);
  await fill(server);
  const other = { id: 'other', tenant: 'globex' };
  await server.call('POST', '/api/instances', other);
  await server.call('PUT', '/api/instances/other/volumes/workspace/what', 'other');
  await server.call('POST', '/api/instances/other/plan', { to: 'frozen' });
  await server.call('POST', '/api/instances', { id: 'gone', tenant: 'acme' });
  await server.call('POST', '/api/instances/gone/plan', { to: 'deleted' });
  const left = join(root, 'left');
  writeFileSync(left, 'what a deletion left');
  await at.drawers.cold.put(left, 'gone');
  // A store that does not answer once: the deletion leaves what comes after it, too.
  const { at: fileOf } = at.drawers.archive;
  let failures = 0;
  at.drawers.archive.at = (key) => {
    const file = fileOf.call(at.drawers.archive, key);
    const remove = async () => {
      if (key !== 'archived' || failures > 0) return file.remove();
      failures += 1;
      throw new Error('no answer');
    };
    return new Proxy(file, { get: (of, name) => (name === 'remove' ? remove : Reflect.get(of, name)) });
  };
  const { id } = (await server.call<{ id: string }>('DELETE', '/api/tenants/acme', { confirm: 'acme' })).json;
  const state = async () => (await server.call('GET', `/api/jobs/${id}`)).json.state;
  await expect.poll(state).toBe('done');
  expect(await objects(at)).toEqual(['cold/other.sqlite']);
  expect(failures).toBe(1);
  expect(onDisk(at)).toEqual([]);
});

test('a backup of objects is restored to other drawers, whole and one by one', async () => {
  const at = site('data');
  const server = await serve(at);
  const content = await populate(server);
  const backup = join(root, 'backup');
  const first = await backUp(at, backup);
  expect([first.wrong, first.manifest.rows.length]).toEqual([[], 10]);
  expect((await backUp(at, backup)).added.objects).toBeLessThanOrEqual(2);

  const to = site('restored');
  await loseRegistry(to.dataFolder);
  const opened = await openBackup(backup, join(root, 'unpacked'), null);
  const options = { ...to, backup: opened, from: backup, clock: systemClock, passphrase: null };
  await restoreAll({ ...options, force: false });
  const held = await objects(to);
  expect(held).toEqual(await objects(at));
  expect(wrongIn(await look(to))).toEqual([]);
  await expect(restoreAll({ ...options, force: false })).rejects.toMatchObject({ code: 'conflict' });

  // What is there is set aside in the data folder, as it was kept.
  const again = await restoreAll({ ...options, force: true });
  expect(again.aside).toMatchObject({ registry: true });
  expect(await objects(to)).toEqual(held);
  const aside = filesIn(join(to.dataFolder, again.asideIn ?? '')).filter((path) => /sqlite/.test(path));
  expect(aside).toEqual(expect.arrayContaining(held));
  const one = { ...options, force: true, as: null, id: parseInstanceId('frozen') };
  const readers = sharedReaders(to.config);
  expect(await restoreOne({ ...one, readers })).toMatchObject({
    state: 'suspended',
    vfsPath: 'live/frozen/vfs.sqlite',
  });
  await readers.stop();
  expect(await objects(to)).toEqual(held.filter((address) => address !== 'cold/frozen.sqlite'));
  expect(namesIn(join(to.dataFolder, 'orphans'))).toEqual([expect.stringMatching(/-frozen-frozen\.sqlite$/)]);
  rmSync(join(to.dataFolder, 'orphans'), { recursive: true });
  await restoreAll({ ...options, force: true });
  await opened.close();
  await expectWhole(await serve(to), content);
});

test('a start without its registry is refused, and doctor takes every object back', async () => {
  const at = site('data');
  const server = await serve(at);
  await fill(server);
  await server.stop();
  expect(await findStartRefusal(at)).toBeNull();
  const { findings, looked } = await look(at);
  expect([findings, looked.files]).toEqual([[], 5]);

  await loseRegistry(at.dataFolder);
  expect((await findStartRefusal(at))?.unnamed.map(({ path }) => path).sort()).toEqual(
    [...(await objects(at)), 'live/suspended/vfs.sqlite'].sort(),
  );
  await expect(serve(at)).rejects.toMatchObject({ code: 'conflict', extra: { start_refused: 'empty' } });
  const examined = await look(at);
  expect(wrongIn(examined)).toHaveLength(6);
  const { refused } = await repair(at, (parts) =>
    adopt(parts, examined, { tenant: 'acme', keys: [], tenantOf: async () => null }),
  );
  expect(refused).toEqual([]);
  expect(wrongIn(await look(at))).toEqual([]);
  const { call, stop } = await serve(at);
  for (const [id, state] of ['suspended', 'frozen', 'archived'].map((id) => [id, id] as const)) {
    expect((await call('GET', `/api/instances/${id}`)).json.state).toBe(state);
    expect((await call('GET', `/api/instances/${id}/volumes/workspace/what`)).text).toBe(id);
  }
  await stop();
});

test('doctor tells what became of objects, and brings back one that was set aside', async () => {
  const at = site('data');
  const server = await serve(at);
  await fill(server);
  await server.stop();
  const { cold, archive } = at.drawers;
  const orphans = join(at.dataFolder, 'orphans');
  await cold.at('frozen').takeOut('', join(orphans, '1700000000000-frozen-frozen.sqlite'));
  await archive.at('archived').replace(async (path) => writeFileSync(path, 'not what was filed'));
  const examined = await look(at);
  expect(examined.findings.filter(({ weight }) => weight === 'note')).toEqual([]);
  expect(wrongIn(examined)).toEqual([
    ['row.corrupt', 'archived'],
    ['row.elsewhere', 'frozen'],
  ]);
  const keys = ['frozen'];
  const { done } = await repair(at, (parts) =>
    adopt(parts, examined, { tenant: null, keys, tenantOf: async () => null }),
  );
  expect(done).toEqual([expect.stringMatching(/^frozen: /)]);
  expect(namesIn(orphans)).toEqual([]);
  expect(await objects(at)).toContain('cold/frozen.sqlite');
  expect(wrongIn(await look(at))).toEqual([['row.corrupt', 'archived']]);

  // A file that moved between two drawers is followed by its row.
  const moved = join(root, 'moved.sqlite');
  await cold.at('frozen').takeOut('', moved);
  mkdirSync(join(at.dataFolder, 'live/frozen'), { recursive: true });
  renameSync(moved, join(at.dataFolder, 'live/frozen/vfs.sqlite'));
  const elsewhere = await look(at, false);
  expect(wrongIn(elsewhere)).toContainEqual(['row.elsewhere', 'frozen']);
  expect((await repair(at, (parts) => fix(parts, elsewhere))).done).toContainEqual(expect.stringMatching(/^frozen: /));
});
