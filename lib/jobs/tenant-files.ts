/**
 * Removes a forgotten tenant's files that do not go with its sandboxes and copies: files set aside, expanded for
 * reading, left by a deletion, and the copies of the registry that upgrades kept. Finds them by name and by the
 * registry's rows; opens none.
 */
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { syncFolder, unlinkFile } from '../base/effects.ts';
import { instanceIdOfFile } from '../base/ids.ts';
import { removeStrangersTrees } from '../base/strangers-file.ts';
import type { Registry } from '../registry/registry.ts';
import type { Drawers } from '../storage/drawer.ts';
import { keptFiles, namesIn } from '../storage/inventory.ts';
import { setAsideNow } from '../storage/landing-folder.ts';

type Folders = Pick<Config, 'dataFolder'>;
type Rows = Pick<Registry, 'tenantForgettings' | 'instances'>;

/** Names looked at before others have their turn. */
const PIECE = 200;
/** What `setAside` and `moveAside` call a file: when, whose, perhaps its generation, and what it was called. */
const ASIDE = /^\d+-(.+)\.sqlite(?:\.zst)?(?:-wal|-journal)?$/;
/**
 * Of the live drawer, where every file is called `vfs.sqlite`; of one whose files are called by their key; of a copy's.
 */
const LIVE = /^(.+)-vfs$/;
const KEYED = /^(.+)-(?:\d+-)?\1$/;
const COPY = /-([0-9a-f]{64})$/;
const GENERATION = /-\d+$/;

/** Names in `orphans/` of a tenant's files, and those that may be its but may be another's as well. */
export async function orphansOf(
  { dataFolder }: Folders,
  rows: Rows,
  tenant: string,
): Promise<{ own: string[]; doubtful: string[] }> {
  const own: string[] = [];
  const doubtful: string[] = [];
  let seen = 0;
  for (const name of namesIn(join(dataFolder, 'orphans'))) {
    seen += 1;
    if (seen % PIECE === 0) await setImmediate();
    const owners = await ownersOf(name, rows);
    if (!owners.includes(tenant)) continue;
    (owners.length === 1 ? own : doubtful).push(name);
  }
  return { own: own.sort(), doubtful: doubtful.sort() };
}

/** Whose a file that was set aside can be, by its name. */
async function ownersOf(name: string, rows: Rows): Promise<string[]> {
  const stem = ASIDE.exec(name)?.[1] ?? '';
  const hash = COPY.exec(stem)?.[1];
  if (hash !== undefined) return rows.tenantForgettings.ownersOfCopy(hash);
  const live = LIVE.exec(stem)?.[1];
  const ids = live === undefined ? [KEYED.exec(stem)?.[1] ?? ''] : [live, live.replace(GENERATION, '')];
  const owners = await Promise.all([...new Set(ids)].map((id) => rows.instances.tenantOf(instanceIdOfFile(id))));
  return [...new Set(owners.filter((owner) => owner !== null))];
}

/**
 * Removes all of them; every sandbox of the tenant is deleted by now. Says how many of each kind there were. May be
 * repeated.
 */
export async function removeFiles(
  folders: Folders,
  drawers: Drawers,
  rows: Rows & Pick<Registry, 'storage'>,
  tenant: string,
): Promise<Record<string, number>> {
  const { dataFolder } = folders;
  const removeFrom = async (folder: string, names: readonly string[]) => {
    for (const name of names) await unlinkFile(join(folder, name));
    if (names.length > 0) await syncFolder(folder);
  };
  const { own } = await orphansOf(folders, rows, tenant);
  await removeFrom(join(dataFolder, 'orphans'), own);

  const expanded: string[] = [];
  for (const name of namesIn(join(dataFolder, 'expanded'))) {
    // `<id>.<generation>.sqlite`, and what SQLite may have beside it.
    if ((await rows.instances.tenantOf(instanceIdOfFile(name.replace(/\..*$/, '')))) === tenant) expanded.push(name);
  }
  await removeFrom(join(dataFolder, 'expanded'), expanded);

  // The listings of archived files, where a deletion ended before it came to them.
  const listings: string[] = [];
  for (const name of namesIn(join(dataFolder, 'archive'))) {
    const id = /^(.+)\.json$/.exec(name)?.[1];
    if (id !== undefined && (await rows.instances.tenantOf(instanceIdOfFile(id))) === tenant) listings.push(name);
  }
  await removeFrom(join(dataFolder, 'archive'), listings);

  let left = 0;
  let seen = 0;
  for await (const page of keptFiles(dataFolder, drawers)) {
    for (const { drawer, key, path } of page) {
      seen += 1;
      if (seen % PIECE === 0) await setImmediate();
      if (drawer === 'snapshot' || drawer === 'blueprint') continue;
      if ((await rows.instances.tenantOf(instanceIdOfFile(key))) !== tenant) continue;
      left += 1;
      if (drawer !== 'live') await drawers[drawer].at(key).remove();
      else {
        const aside = setAsideNow(dataFolder, dirname(join(dataFolder, path)));
        if (aside !== null) await removeStrangersTrees([aside]);
        await syncFolder(join(dataFolder, 'live'));
      }
    }
  }

  const copies = await rows.storage.removeKeptCopies();
  return { orphans: own.length, expanded: expanded.length, left, 'copies of the registry': copies };
}
