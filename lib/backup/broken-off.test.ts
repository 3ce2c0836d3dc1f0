import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { type Config, readConfig } from '../base/config.ts';
import { observeEffects } from '../base/effects.ts';
import { openSigner } from '../base/signing.ts';
import { createDrawers } from '../host/drawers.ts';
import { registryDriver } from '../registry/drivers.ts';
import { settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { sha256Of } from '../storage/files.ts';
import { DAY, DRAWN_BY, partOf } from '../testing/draw.ts';
import { startServer } from '../testing/server.ts';
import { createReaders } from '../vfs/readers.ts';
import type { Readers } from '../vfs/types.ts';
import { makeBackup } from './backup.ts';
import { objectsOf } from './manifest.ts';
import { openNewest } from './open-backup.ts';
import { openPlace } from './open-place.ts';
import type { BackupPlace } from './place.ts';
import { manifestsIn, openTarget } from './store.ts';

/** More than a backup has. */
const MOST_EFFECTS = 400;
/** All effects have been tried after so many days. */
const PARTS = 8;

let root: string;
let config: Config;
let readers: Readers;

/** A stopped server with a sandbox at rest, an archived one and a snapshot. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-broken-off-'));
  const folder = join(root, 'data');
  const server = await startServer({ folder });
  for (const id of ['rests', 'packed']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme' });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/what`, id);
    await server.call('POST', `/api/instances/${id}/suspend`, {});
  }
  await server.call('POST', '/api/instances/rests/snapshots', {});
  await server.call('POST', '/api/instances/packed/archive', {});
  await server.stop();
  config = readConfig({ WB_DATA: folder, ...settingsOfTests(folder) });
  readers = createReaders({ maxFileBytes: config.maxFileBytes });
});
afterEach(() => observeEffects(null));
afterAll(async () => {
  await readers.stop();
  rmSync(root, { recursive: true, force: true });
});

async function withPlace<T>(target: string, work: (place: BackupPlace) => Promise<T>): Promise<T> {
  const { place, close } = await openPlace(target, config, join(root, 'drafts'));
  try {
    return await work(place);
  } finally {
    await close();
  }
}

const make = (target: string) =>
  withPlace(target, async (place) => {
    const opened = await openTarget(place);
    try {
      return await makeBackup({
        config,
        driver: registryDriver(config.registry),
        drawers: createDrawers(config),
        target: opened,
        readers,
        signer: openSigner(config.keysFolder),
        clock: systemClock,
        passphrase: null,
      });
    } finally {
      await opened.close().catch(() => undefined);
    }
  });

/** Ids of the backups in a place, each of whose objects was read and hashed. */
const wholeIn = (target: string) =>
  withPlace(target, async (place) => {
    const { manifests, damaged } = await manifestsIn(place);
    expect(damaged).toEqual([]);
    for (const { begun_ms: begun } of manifests) {
      const backup = await openNewest(place, join(root, 'objects'), begun);
      for (const [sha256, { bytes, names }] of objectsOf(backup.manifest)) {
        expect(await sha256Of(await backup.path({ sha256, bytes }, names.join()))).toBe(sha256);
      }
      await backup.close();
    }
    return manifests.map(({ id }) => id);
  });

test.each(['folder', 'store'])(
  'a backup to a %s that breaks off before any effect leaves what was there whole, and the next one is made',
  async (kind) => {
    let effects = 0;
    const each = Array.from({ length: MOST_EFFECTS }, (_, at) => at + 1);
    for (const nth of partOf(each, PARTS, DAY)) {
      const folder = join(root, `${kind}-${nth}`);
      if (kind === 'store') mkdirSync(folder);
      const target = kind === 'store' ? pathToFileURL(folder).href : folder;
      const first = Math.floor(nth / PARTS) % 2 === 1 ? await make(target) : null;
      let seen = 0;
      observeEffects({
        before() {
          seen += 1;
          // From here on nothing happens any more, as in a process that is gone.
          if (seen >= nth) throw Object.assign(new Error('gone'), { code: 'EIO', syscall: 'write' });
        },
      });
      const outcome = await make(target).then(
        () => 'made',
        () => 'broken off',
      );
      observeEffects(null);
      // Beside an earlier one there are fewer: less is new.
      if (seen < nth && first === null) effects = nth;
      const there = await wholeIn(target);
      if (first !== null) expect([nth, there]).toEqual([nth, expect.arrayContaining([first.manifest.id])]);
      if (outcome === 'made') expect(there.length).toBeGreaterThan(0);
      const next = await make(target);
      expect([nth, await wholeIn(target)]).toEqual([nth, expect.arrayContaining([...there, next.manifest.id])]);
      expect(readdirSync(root).filter((name) => name === 'drafts' || name === 'objects')).toEqual([]);
      rmSync(folder, { recursive: true });
      if (effects > 0) break;
    }
    expect(effects, DRAWN_BY).toBeGreaterThan(20);
  },
);

test('two backups to one folder at once: one is made, the other is refused, and both are told apart', async () => {
  const target = join(root, 'two');
  const outcomes = await Promise.allSettled([make(target), make(target)]);
  const refused = outcomes.filter((one) => one.status === 'rejected');
  expect(refused).toHaveLength(1);
  expect(refused[0]?.reason).toMatchObject({ code: 'conflict', message: expect.stringContaining('Another backup') });
  expect(await wholeIn(target)).toHaveLength(1);
});
