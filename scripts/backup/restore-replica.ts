/** The part of the restore command that is of a replica: whether one lies there, and what is said of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenedBackup } from '../../lib/backup/open-backup.ts';
import { isStoreUrl } from '../../lib/backup/open-place.ts';
import { hasReplica, openReplica } from '../../lib/backup/replica-backup.ts';
import type { ReplicaReport } from '../../lib/backup/replica-report.ts';
import type { RestorePlan } from '../../lib/backup/restore.ts';
import type { Config } from '../../lib/base/config.ts';
import { isWinterdockError, WinterdockError } from '../../lib/base/errors.ts';
import type { InstanceId } from '../../lib/base/ids.ts';
import { parseStoreUrl } from '../../lib/base/store-url.ts';
import { MARKER_NAME } from '../../lib/storage/object-store/object-names.ts';
import type { ObjectStore } from '../../lib/storage/object-store/object-store.ts';
import { openObjectStore } from '../../lib/storage/object-store/open-store.ts';
import { say, time } from './terminal.ts';

/** Names of each kind that are shown. */
const MOST_NAMED = 50;

interface ReplicaWish {
  /** A URL, or an absolute path. */
  from: string;
  /** Epoch milliseconds; null: now. */
  at: number | null;
  instance: InstanceId | null;
}

/**
 * Opens the replica that lies at a place; null when none does, or none that has a moment that old: it may have a backup
 * then. Throws what `openReplica` throws.
 */
export async function openReplicaAt(
  { from, at, instance }: ReplicaWish,
  config: Config,
  tmpFolder: string,
): Promise<{ backup: OpenedBackup; close: () => Promise<void> } | null> {
  const url = urlOf(from);
  if (url === null) return null;
  const store = await openObjectStore(url, config.store.connection);
  const close = () => store.close();
  try {
    if (await hasReplica(store)) {
      return { backup: await openReplica({ store, tmpFolder, atMs: at, only: instance }), close };
    }
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'not_found') {
      await close();
      throw error;
    }
    process.stderr.write(`PASSED OVER: ${error.message}\n`);
  }
  await close();
  return null;
}

/**
 * Throws `not_found` for a store that has files of sandboxes from a replica and nothing else: without a registry nobody
 * knows what they are of. `url`: of the store.
 */
export async function refuseLoneFiles(url: string, config: Config): Promise<void> {
  const store = await openObjectStore(parseStoreUrl(url).url, config.store.connection);
  try {
    if ((await isEmpty(store, 'replica/')) || !(await isEmpty(store, 'drawers/'))) return;
  } finally {
    await store.close();
  }
  throw new WinterdockError('not_found', `The replica in ${url} has no registry: nothing says what its files are of.`, {
    hint: 'Nothing was restored. Was it copied whole?',
  });
}

async function isEmpty(store: ObjectStore, prefix: string): Promise<boolean> {
  for await (const page of store.list(prefix)) if (page.length > 0) return false;
  return true;
}

function urlOf(from: string): string | null {
  if (isStoreUrl(from)) return parseStoreUrl(from).url;
  return existsSync(join(from, MARKER_NAME)) ? pathToFileURL(from).href : null;
}

export function sayOfReplica(report: ReplicaReport, { stored }: Pick<RestorePlan, 'stored'>): void {
  const { url, registryMs, moments, notRestored, begun, behind } = report;
  say(`Replica in ${url}: the registry as of ${time(registryMs)}. What was done after that is not in it.`);
  const times = [...moments.values()];
  if (times.length > 0) {
    say(`Files of ${times.length} sandboxes, the newest as of ${time(Math.max(...times))}.`);
  }
  if (begun.size > 0)
    say(
      `Had just begun, and come back as they began: ${shown([...begun].map(([id, as]) => `${id} (${as ?? 'empty'})`))}.`,
    );
  if (behind.length > 0)
    say(`Used after the newest moment of their files, which may lack what they wrote: ${shown(behind)}.`);
  if (stored > 0) say(`In the store below the drawers, and left there: ${stored}.`);
  if (notRestored.length > 0)
    say(`Created after that moment of the registry, and not restored: ${shown(notRestored)}.`);
}

function shown(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
