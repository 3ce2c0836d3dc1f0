/**
 * The part of the restore command that makes rows from the store below the drawers: for a registry that is gone, and
 * for what a restored backup lacks. Brings no files: the server does, as they are needed.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFresh, rowsFromStore, type TakenRows, takeInstallation } from '../../lib/backup/rows-from-store.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Config } from '../../lib/base/config.ts';
import { makeFolder, removeTree } from '../../lib/base/effects.ts';
import { parseStoreUrl } from '../../lib/base/store-url.ts';
import { lockStores } from '../../lib/front/lock.ts';
import { openRegistry } from '../../lib/host/open-registry.ts';
import { beginEpochOf } from '../../lib/ledger/epoch.ts';
import type { RegistryDriver } from '../../lib/registry/driver.ts';
import { registryDriver } from '../../lib/registry/drivers.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import { readMarker, type StoreMarker } from '../../lib/storage/object-store/marker.ts';
import type { ObjectStore } from '../../lib/storage/object-store/object-store.ts';
import { openObjectStore } from '../../lib/storage/object-store/open-store.ts';
import { refuse, say } from './terminal.ts';

/** Names of each kind that are shown. */
const MOST_NAMED = 50;
const NOT_THERE = `Not in the store: keys and secrets, people and their sign-ins, API keys, the ledger of before, settings, quotas, workbooks, schedules,
webhooks, agents; sandboxes that were never filed, and what was written since a filing; names and labels changed since then. What was
deleted within the last day may be among the rows.`;

export interface RowsOptions {
  /** Of the store. */
  from: string;
  dryRun: boolean;
  /** Brings and hashes every object first. */
  verify: boolean;
}

/** Whether the store at a URL has the drawers of an installation. Throws `storage_unavailable`. */
export async function hasDrawers(url: string, { store }: Pick<Config, 'store'>): Promise<boolean> {
  const opened = await openObjectStore(url, store.connection);
  try {
    const marker = await readMarker(opened);
    return marker !== null && marker !== 'other';
  } finally {
    await opened.close();
  }
}

/** Does it, or says what it would do. Returns the exit code. Throws what the store and the registry throw. */
export async function restoreRows(want: RowsOptions, config: Config, driver: RegistryDriver): Promise<number> {
  const { url } = parseStoreUrl(want.from);
  const { cold, connection } = config.store;
  if (cold !== null && cold.url !== url) {
    return refuse(`WB_COLD_URL names another store, ${cold.url}: rows would name objects that are not there.`);
  }
  const store = await openObjectStore(url, connection);
  const folder = want.dryRun
    ? join(tmpdir(), `winterdock-rows-${randomUUID()}`)
    : join(config.dataFolder, 'staging', `rows-${process.pid}`);
  try {
    const marker = await readMarker(store);
    if (marker === null || marker === 'other')
      return refuse(`${url} has no marker of an installation: it has no drawers.`);
    await makeFolder(folder);
    const work = { want, config, store, marker, folder };
    const taken = want.dryRun ? await tryOut(work, driver) : await doIt(work, driver);
    say(`${url}, of the installation ${marker.id}.`);
    tell(taken);
    say(NOT_THERE);
    say(want.dryRun ? 'Nothing was changed.' : `Start the server with WB_COLD_URL=${url}.`);
    return taken.left.length === 0 ? 0 : refuse(`${taken.left.length} could not be taken.`);
  } finally {
    await removeTree(folder);
    await store.close();
  }
}

interface Work {
  want: RowsOptions;
  config: Config;
  store: ObjectStore;
  marker: StoreMarker;
  /** Absolute; it is there. */
  folder: string;
}

async function doIt(work: Work, driver: RegistryDriver): Promise<TakenRows> {
  const { config, store, marker } = work;
  const unlock = await lockStores(config, driver);
  try {
    const registry = await openRegistry(driver, config);
    try {
      const fresh = await isFresh(registry);
      await takeInstallation(registry, marker.id, systemClock);
      if (fresh) {
        const reason = `rows were made from the store ${store.url}`;
        const beyond = marker.epoch ?? 0;
        await beginEpochOf(registry, { ...config, driver, clock: systemClock, reason, beyond, actor: 'restore' });
      }
      return await take(work, registry);
    } finally {
      await registry.close();
    }
  } finally {
    await unlock();
  }
}

/** On a copy of the registry, which is removed then; beside a server too. */
async function tryOut(work: Work, driver: RegistryDriver): Promise<TakenRows> {
  const path = join(work.folder, 'registry.sqlite');
  if ((await driver.presence()).kind === 'there') {
    const reader = await driver.readLive();
    try {
      await reader.copyTo(path);
    } finally {
      await reader.close();
    }
  }
  const registry = await openRegistry(registryDriver({ driver: 'sqlite', path }), work.config);
  try {
    await takeInstallation(registry, work.marker.id, systemClock);
    return await take(work, registry);
  } finally {
    await registry.close();
  }
}

async function take({ want, config, store, folder }: Work, registry: Registry): Promise<TakenRows> {
  const isShown = process.stderr.isTTY;
  const taken = await rowsFromStore({
    ...{ store, registry, clock: systemClock, host: config.hostName, verifyIn: want.verify ? folder : null },
    progress(done, of) {
      if (isShown) process.stderr.write(`\r${done} of ${of} sandboxes `);
    },
  });
  if (isShown) process.stderr.write('\n');
  return taken;
}

function tell(taken: TakenRows): void {
  // In one order, whatever the store listed first.
  const states = Object.entries(taken.states)
    .sort()
    .reverse()
    .map(([state, n]) => `${n} ${state}`);
  const tenants = [...taken.tenants].sort().map(([tenant, n]) => `${tenant} (${n})`);
  say(
    `Rows from the store: ${states.join(', ') || 'no sandboxes'}; ${taken.snapshots} snapshots, ${taken.blueprints} blueprints.`,
  );
  if (tenants.length > 0) say(`Tenants: ${shown(tenants)}.`);
  if (taken.there > 0)
    say(`There already, and left as they are: ${taken.there}, of which ${taken.deleted} are deleted.`);
  for (const one of taken.passedOver.slice(0, MOST_NAMED)) process.stderr.write(`PASSED OVER: ${one}\n`);
  for (const one of taken.left.slice(0, MOST_NAMED)) process.stderr.write(`NOT TAKEN: ${one}\n`);
}

function shown(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
