import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../base/log.ts';
import { StoredCopies } from '../copies/stored-copies.ts';
import { purgeObjectsOf } from '../jobs/tenant-objects.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { connectionTo } from '../storage/object-store/testing/s3-server.ts';
import { filesIn } from '../testing/files-in.ts';
import { startServer } from '../testing/server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-copies-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a copy that the store has forgotten is uploaded again, and leaves this disk only then', async () => {
  const { call, host, clock, folder: dataFolder, stop } = await startServer();
  const bucket = join(folder, 'bucket');
  const objects = await openObjectStore(pathToFileURL(bucket).href, connectionTo(''));
  let room = Number.POSITIVE_INFINITY;
  const copies = new StoredCopies({
    ...{
      objects,
      drawers: createDiskDrawers(dataFolder),
      registry: host.registry,
      host: { name: 'one', isAlone: true },
    },
    ...{ clock, log: createLogger('silent'), dataFolder, room: () => room, keptMs: 0 },
  });
  const stored = () => filesIn(bucket).filter((name) => /^drawers\/snapshot\/.*(?<!\.json)$/.test(name));
  try {
    await call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    await call('PUT', '/api/instances/a/volumes/workspace/kept', 'first');
    await call('POST', '/api/instances/a/snapshots', {});
    const [{ hash = '' } = {}] = await host.registry.storeNames.copiesToStore(1, []);
    const path = join(dataFolder, 'snapshots', `${hash}.sqlite`);
    copies.start();
    await expect.poll(() => host.registry.storeNames.copyName('snapshot', hash), { timeout: 240_000 }).not.toBeNull();
    const [forgotten = ''] = stored();
    rmSync(join(bucket, forgotten));
    room = 0;
    await call('PUT', '/api/instances/a/volumes/workspace/kept', 'second');
    await call('POST', '/api/instances/a/snapshots', {});
    await expect.poll(() => existsSync(path), { timeout: 240_000 }).toBe(false);
    expect(stored().filter((name) => name.includes(hash))).toHaveLength(1);
    expect(stored()).not.toContain(forgotten);
    expect(await copies.drawers().snapshot.at(hash).stat()).not.toBeNull();
  } finally {
    await copies.stop();
    await objects.close();
    await stop();
  }
});

test('a copy that is being sent while its tenant is forgotten stays known, for its object to be removed', async () => {
  const { call, host, clock, folder: dataFolder, stop } = await startServer();
  const objects = await openObjectStore(pathToFileURL(join(folder, 'bucket')).href, connectionTo(''));
  const sending = Promise.withResolvers<string>();
  const purged = Promise.withResolvers<void>();
  const late: typeof objects.upload = async (name, ...given) => {
    sending.resolve(name);
    await purged.promise;
    return objects.upload(name, ...given);
  };
  const copies = new StoredCopies({
    ...{ drawers: createDiskDrawers(dataFolder), registry: host.registry, host: { name: 'one', isAlone: true } },
    ...{ objects: { ...objects, upload: late }, clock, log: createLogger('silent'), dataFolder, room: () => 0 },
  });
  try {
    await call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    await call('PUT', '/api/instances/a/volumes/workspace/kept', 'theirs');
    await call('POST', '/api/instances/a/snapshots', {});
    copies.start();
    const name = await sending.promise;
    const turn = { nowMs: clock.now(), isOver: () => false };
    const store = { objects, traits: () => null, late: new Set<string>() };
    for (const _ of ['first', 'again', 'and again']) {
      const counts = await purgeObjectsOf(host.registry, store, 'acme', turn);
      expect(counts).toMatchObject({ 'uploads under way, which the collector removes': 1 });
    }
    purged.resolve();
    await expect.poll(() => objects.head(name)).not.toBeNull();
    const superseded = await host.registry.storeNames.superseded(clock.now(), 10);
    expect(superseded.map((one) => one.name)).toContain(name);
  } finally {
    await copies.stop();
    await objects.close();
    await stop();
  }
});
