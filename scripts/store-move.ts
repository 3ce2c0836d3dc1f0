/**
 * `npm run store:move -- --to URL`: copies every object of this installation from the store of WB_COLD_URL into another
 * one, verified, whether the server runs or not. It can be repeated: what is there is not copied again. Run it once
 * more with the server stopped, then start that with the other URL. The first store stays as it is. `-- --to disk`:
 * brings every file home to this machine, so that the server can start without a store; one that runs does it itself
 * (WB_STORE_LEAVING=1), and this waits until it has. Exits with 0 when all is there, with 1 when something could not be
 * copied.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../lib/base/config.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import { lockStores, requireUnlockedFolder } from '../lib/front/lock.ts';
import { createHost } from '../lib/host/compose.ts';
import { LEAVING, leavingProgress } from '../lib/host/leaving-store.ts';
import { moveObjects } from '../lib/host/move-objects.ts';
import type { RegistryDriver } from '../lib/registry/driver.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { claimPrefix, readMarker } from '../lib/storage/object-store/marker.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';
import { refuse, say, size } from './backup/terminal.ts';

const USAGE = 'Usage: npm run store:move -- --to URL|disk';
const FOLDER = '.store-move';
/** Between two looks at a server that brings its files back, in milliseconds. */
const LOOK_EVERY_MS = 1000;

async function toStore(config: Config, driver: RegistryDriver, url: string): Promise<number> {
  const { cold, connection } = config.store;
  if (cold === null) {
    return refuse(
      'WB_COLD_URL names no store: start the server with the URL of the new one, and what rests is uploaded.',
    );
  }
  if (cold.url === url) return refuse(`${url} is the store that WB_COLD_URL names.`);
  if ((await driver.presence()).kind !== 'there') {
    return refuse(`There is no registry at ${driver.name}: set WB_DATA (and WB_REGISTRY) as the server has them.`);
  }
  const from = await openObjectStore(cold.url, connection);
  const to = await openObjectStore(url, connection);
  const folder = join(config.dataFolder, FOLDER);
  const reader = await driver.readLive();
  try {
    const marker = await readMarker(from);
    if (marker === null || marker === 'other') return refuse(`${cold.url} has no marker of this installation.`);
    await claimPrefix(to, marker, { isEstablished: false });
    const moved = await moveObjects({
      from,
      to,
      folder,
      names: (after, limit) => reader.storeNames(after, limit),
      progress: ({ copied, bytes, there }) => {
        if (process.stdout.isTTY) process.stdout.write(`\r${copied} copied (${size(bytes)}), ${there} there already `);
      },
    });
    if (process.stdout.isTTY) process.stdout.write('\n');
    say(`${moved.copied} objects of ${size(moved.bytes)} were copied to ${to.url}; ${moved.there} were there already.`);
    for (const { name, why } of moved.left) process.stderr.write(`${name}: ${why}\n`);
    if (moved.left.length > 0) return refuse(`${moved.left.length} could not be copied.`);
    say(
      moved.copied === 0
        ? `All is there. With the server stopped, start it with WB_COLD_URL=${to.url}; the first store may go then.`
        : 'Run this again until nothing is copied, the last time with the server stopped.',
    );
    return 0;
  } finally {
    await reader.close();
    await Promise.all([from.close(), to.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function toDisk(config: Config, driver: RegistryDriver): Promise<number> {
  if (isRunning(config)) return besideServer(config, driver);
  if (config.store.cold === null) return refuse('WB_COLD_URL names no store: set it as the server has it.');
  const unlock = await lockStores(config, driver);
  try {
    // Nothing is uploaded or evicted: the engine is built, and not started.
    const store = { ...config.store, cacheBytes: Number.MAX_SAFE_INTEGER };
    const host = await createHost({ config: { ...config, store, poolSize: 0 }, driver });
    try {
      await host.sandboxes.reconcile();
      const all = await host.registry.instances.countInStore();
      const coming = await host.sandboxes.store?.bringHome((done) => {
        if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${all} `);
      });
      if (process.stdout.isTTY) process.stdout.write('\n');
      for (const { id, why } of coming?.left ?? []) process.stderr.write(`${id}: ${why}\n`);
      const copies = await host.bringCopiesHome();
      for (const { name, why } of copies) process.stderr.write(`${name}: ${why}\n`);
      say(`${coming?.brought ?? 0} of ${all} files are on this machine now.`);
      const left = (await host.registry.instances.countInStore()) + copies.length;
      if (left > 0) return refuse(`${left} could not be brought; run this again.`);
      say('Start the server without WB_COLD_URL. The objects in the store are no longer needed.');
      return 0;
    } finally {
      await host.stop();
    }
  } finally {
    await unlock();
  }
}

function isRunning({ dataFolder }: Config): boolean {
  try {
    requireUnlockedFolder(dataFolder);
    return false;
  } catch {
    // Another process has it: what it says of itself is in the registry.
    return true;
  }
}

/** Waits until the server that runs has brought everything back, and says how far it is. */
async function besideServer(config: Config, driver: RegistryDriver): Promise<number> {
  const told = new Set<string>();
  for (let left = ''; isRunning(config); ) {
    const progress = leavingProgress(await factOf(driver, LEAVING));
    if (progress === null) {
      return refuse(
        'The server stores what rests. Restart it with WB_STORE_LEAVING=1, which takes about a second: it serves while it brings every file back.',
      );
    }
    for (const one of progress.stays.map(({ name, why }) => `${name}: ${why}`)) {
      if (!told.has(one)) process.stderr.write(`${one}\n`);
      told.add(one);
    }
    if (progress.isDone) {
      say('Every file is on this machine. Restart the server without WB_COLD_URL and WB_STORE_LEAVING.');
      return 0;
    }
    const { sandboxes, copies, bytes } = progress;
    const now = `${sandboxes.left} sandboxes (${size(bytes.left)}) and ${copies.left} copies are left.`;
    if (now !== left) say(now);
    left = now;
    await wait(LOOK_EVERY_MS);
  }
  return refuse('The server was stopped before it had brought everything. Start it, or run this again without it.');
}

async function factOf(driver: RegistryDriver, name: string): Promise<unknown> {
  const registry = await driver.inspect();
  try {
    return await registry.fact(name);
  } finally {
    await registry.close();
  }
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  if (values.to === undefined) return refuse(USAGE);
  const config = readConfig(process.env);
  const driver = registryDriver(config.registry);
  return values.to === 'disk' ? toDisk(config, driver) : toStore(config, driver, values.to);
}

process.umask(0o077);
try {
  process.exitCode = await run();
} catch (error) {
  const hint = isWinterdockError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  process.exitCode = refuse(`${messageOf(error)}${hint}`);
}
