import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { addressOfObject } from '../base/cloud-address.ts';
import type { Registry } from '../registry/registry.ts';
import { entry, makeInstance, START, THRESHOLDS } from '../registry/testing/fixtures.ts';
import { fileDriver } from '../registry/testing/open-test-registry.ts';
import { folderStore } from '../sandboxes/store/testing/folder-store.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { connectionTo, type S3Server, startS3Server, useTestKeys } from '../storage/object-store/testing/s3-server.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { installationId } from './backup-settings.ts';
import { rowsFromStore, takeInstallation } from './rows-from-store.ts';

const sha256OfBytes = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const clock = new FakeClock((START + 1000) * 1000);
let folder: string;
let store: ObjectStore;
let registry: Registry;
let server: S3Server;
let prefixes = 0;
let forgetKeys: () => void;
beforeAll(async () => {
  forgetKeys = useTestKeys();
  server = await startS3Server();
});
afterAll(async () => {
  await server.stop();
  forgetKeys();
});

/** A new one of the tests' own server. */
function s3Store(): Promise<ObjectStore> {
  prefixes += 1;
  return openObjectStore(`s3://bucket/rows/${prefixes}`, connectionTo(server.endpoint));
}

describe.each([
  ['a folder', () => folderStore(join(folder, 'bucket'))],
  ['a store that speaks S3', s3Store],
])('in %s', (_, open) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-rows-'));
    mkdirSync(join(folder, 'drafts'));
    store = await open();
    registry = await fileDriver(join(folder, 'registry.sqlite')).open({ clock, thresholds: THRESHOLDS });
  });
  afterEach(async () => {
    await registry.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const take = (verify = false) =>
    rowsFromStore({ store, registry, clock, host: 'new', verifyIn: verify ? join(folder, 'drafts') : null });
  const rowOf = (id: string) => registry.instances.get(instanceId(id));

  /** Stores an object of a sandbox with its document; `over`: what that says instead. Returns its name. */
  async function stored(id: string, generation = 3, over: Record<string, unknown> = {}): Promise<string> {
    const name = `drawers/cold/${id}/${generation}-${`token${generation}`}`;
    const bytes = Buffer.from(`${id} of ${generation}`);
    const path = join(folder, 'object');
    writeFileSync(path, bytes);
    await store.upload(name, path);
    const sha256 = sha256OfBytes(bytes);
    const document = {
      ...{
        form: 1,
        id,
        tenant: 'acme',
        name: `n-${id}`,
        state: 'frozen',
        generation,
        labels: { of: id },
        policy: 'minimal',
      },
      ...{ ephemeral: false, keepHot: false, holdUntil: null, hotToWarmSeconds: 5, idleToSuspendSeconds: null },
      ...{ idleToFreezeSeconds: 60, workbook: 'w', workbookVersion: 2, lineageBlueprint: null, lineageSnapshot: null },
      ...{
        lineageParent: 'parent',
        created: START - 50,
        updated: START - 20,
        stateSince: START - 10,
        bytes: bytes.length,
      },
      file: { size: bytes.length, sha256, quickCheck: 'ok', inode: '7' },
      stored: { address: addressOfObject(name), generation, sha256, bytes: bytes.length, at: START - 5 },
      ...over,
    };
    await store.put(`${name}.row.json`, Buffer.from(JSON.stringify(document)));
    return name;
  }

  test('a row is as it was filed, names the object, and says in the ledger where it is from', async () => {
    const name = await stored('a');
    expect(await take()).toMatchObject({ states: { frozen: 1 }, there: 0, left: [], passedOver: [] });
    expect(await rowOf('a')).toMatchObject({
      ...{ tenant: 'acme', name: 'n-a', state: 'frozen', generation: 3, labels: { of: 'a' }, policy: 'minimal' },
      ...{ hotToWarmSeconds: 5, idleToFreezeSeconds: 60, workbook: 'w', workbookVersion: 2, lineageParent: 'parent' },
      ...{ created: START - 50, updated: START - 20, stateSince: START - 10, ownerHost: null, fault: null },
      vfsPath: addressOfObject(name),
      stored: { address: addressOfObject(name), generation: 3 },
      file: { inode: '', quickCheck: null, sha256: sha256OfBytes(Buffer.from('a of 3')) },
    });
    expect(await registry.storeNames.get(name)).toMatchObject({ state: 'current', instance: 'a', host: 'new' });
    const { rows } = await registry.ledger.page({ instance: instanceId('a') }, 10);
    expect(rows.map(({ type, to }) => to ?? type).reverse()).toEqual([
      'instance.recovered',
      'active',
      'suspended',
      'frozen',
    ]);
    expect(rows.at(-1)?.reason).toContain(name);
  });

  test('only what is not there is made: nothing is overwritten, revived or remembered', async () => {
    for (const id of ['there', 'deleted', 'named', 'forgotten', 'later']) {
      await stored(id, 3, id === 'forgotten' || id === 'later' ? { tenant: id } : {});
    }
    await makeInstance(registry, 'there', 'suspended', { tenant: 'other' });
    await makeInstance(registry, 'deleted', 'deleted');
    await makeInstance(registry, 'x', 'created', { tenant: 'acme', name: 'n-named' });
    const forget = { job: 'job-1', tenant: 'forgotten', actor: 'key:a', via: 'api', started: START } as const;
    await registry.tenantForgettings.begin(forget, entry({ type: 'tenant.forgetting' }));
    await registry.tenantForgettings.begin(
      { ...forget, job: 'job-2', tenant: 'later' },
      entry({ type: 'tenant.forgetting' }),
    );
    await registry.tenantForgettings.finish('job-2', START - 100, entry({ type: 'tenant.forgotten' }));
    const before = await rowOf('there');
    const taken = await take();
    expect(taken).toMatchObject({ states: { frozen: 2 }, there: 2, deleted: 1 });
    expect([...taken.tenants].sort()).toEqual([
      ['acme', 1],
      ['later', 1],
    ]);
    expect(taken.left).toEqual([expect.stringMatching(/forgotten.*its tenant "forgotten" was forgotten/)]);
    expect(await rowOf('there')).toEqual(before);
    expect(await rowOf('deleted')).toMatchObject({ state: 'deleted', stored: null });
    expect(await rowOf('named')).toMatchObject({ name: null });
    // Once more there is nothing to do.
    expect(await take()).toMatchObject({ states: {}, there: 4, deleted: 1 });
  });

  test('what somebody else wrote is passed over, and the newest object before it is taken', async () => {
    for (const generation of [3, 7, 11]) await stored('cut', generation);
    await store.put(await stored('cut', 19), Buffer.from('cut of 19more'));
    await stored('cut', 23);
    await store.remove('drawers/cold/cut/23-token23');
    await stored('alone', 3, { tenant: '../etc' });
    const wrong: Record<string, Record<string, unknown>> = {
      other: { id: 'cut' },
      upper: { tenant: 'Acme' },
      path: { stored: { address: 'cloud:cold/cut/3-token3', generation: 3, sha256: 'ab'.repeat(32), bytes: 4, at: 1 } },
      awake: { state: 'active' },
      filed: { state: 'archived' },
      labels: { labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, 'v'])) },
      bell: { name: 'a\u0007' },
      late: { created: 1e15 },
      half: { generation: 1.5 },
      more: { form: 2 },
      parent: { lineageParent: { $ne: null } },
      long: { policy: 'x'.repeat(70_000) },
    };
    for (const [id, over] of Object.entries(wrong)) await stored(id, 3, over);
    await stored('text');
    await store.put('drawers/cold/text/3-token3.row.json', Buffer.from('{"form":1'));
    await store.put('drawers/cold/Upper/3-x.row.json', Buffer.from('{}'));
    await store.put('drawers/live/a/3-x.row.json', Buffer.from('{}'));
    const taken = await take();
    expect(taken.states).toEqual({ frozen: 1 });
    expect(await rowOf('cut')).toMatchObject({ generation: 11 });
    expect(taken.passedOver).toEqual([
      expect.stringMatching(/23-token23: .*not there/),
      expect.stringMatching(/19-token19: .*13 bytes, and 9 by its document/),
    ]);
    const left = taken.left.map((line) => line.split('/')[2]).sort();
    expect(left).toEqual(['Upper', 'a', 'alone', 'text', ...Object.keys(wrong)].sort());
  });

  test('bytes that are not those of the document are found where the objects are hashed first', async () => {
    await stored('a', 3);
    await store.put(await stored('a', 5), Buffer.from('b of 5'));
    expect(await take(true)).toMatchObject({
      states: { frozen: 1 },
      passedOver: [expect.stringContaining('5-token5')],
    });
    expect(await rowOf('a')).toMatchObject({ generation: 3 });
  });

  test('copies come with their ids and names, and a copy whose rows are there is left alone', async () => {
    const bytes = Buffer.from('a copy');
    const hash = sha256OfBytes(bytes);
    const path = join(folder, 'object');
    writeFileSync(path, bytes);
    const made = { created: START, actor: 'key:a' };
    const copy = async (name: string, document: object) => {
      await store.upload(name, path);
      await store.put(
        `${name}.row.json`,
        Buffer.from(JSON.stringify({ form: 1, sha256: hash, bytes: bytes.length, ...document })),
      );
    };
    const snapshots = [
      { ...made, id: 'snap-1', source: 'a', tag: 'kept' },
      { ...made, id: 'snap-2', source: 'b', tag: null },
    ];
    const volumes = [{ volume: 'workspace', files: 1, bytes: 2 }];
    await copy(`drawers/snapshot/acme/${hash}-t1`, { kind: 'snapshot', tenant: 'acme', volumes, snapshots });
    await copy(`drawers/blueprint/_/${hash}-t2`, {
      ...{ kind: 'blueprint', tenant: '_', volumes },
      blueprints: [{ ...made, name: 'base', source: null }],
    });
    await copy(`drawers/snapshot/initech/${hash}-t3`, { kind: 'snapshot', tenant: 'acme', volumes, snapshots });
    await copy(`drawers/snapshot/old/${hash}-t4`, { kind: 'snapshot', tenant: 'old', bytes: undefined });
    const taken = await take(true);
    expect(taken).toMatchObject({ snapshots: 2, blueprints: 1 });
    expect(taken.left.sort()).toEqual([
      expect.stringMatching(/initech.*another copy/),
      expect.stringMatching(/old.*earlier version/),
    ]);
    expect(await registry.copies.snapshot('snap-1')).toMatchObject({
      tenant: 'acme',
      source: 'a',
      tag: 'kept',
      hash,
      volumes,
    });
    expect(await registry.copies.blueprint('base')).toMatchObject({ tenant: null, source: null, hash });
    expect((await registry.storeNames.copyName('snapshot', hash))?.name).toContain('-t1');
    expect(await take()).toMatchObject({ snapshots: 0, blueprints: 0, there: 3 });
  });

  test('an empty registry takes the installation of the store, and that of another one is refused', async () => {
    await takeInstallation(registry, 'theirs', clock);
    expect(await installationId(registry.facts, clock)).toBe('theirs');
    await makeInstance(registry, 'a');
    await takeInstallation(registry, 'theirs', clock);
    await expect(takeInstallation(registry, 'another', clock)).rejects.toMatchObject({ code: 'conflict' });
  });
});
