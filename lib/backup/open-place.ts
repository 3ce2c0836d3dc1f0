/** The place of backups that a text names: an absolute path, or the URL of a store. */
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Config } from '../base/config.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { leadsNowhere } from '../base/is-there.ts';
import { parseStoreUrl } from '../base/store-url.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { folderPlace } from './folder-place.ts';
import type { BackupPlace } from './place.ts';
import { storePlace } from './store-place.ts';

const URL_FORM = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Whether a text names a store rather than a folder or file. */
export function isStoreUrl(text: string): boolean {
  return URL_FORM.test(text);
}

/**
 * The target as it is kept: the absolute path of a folder outside the data folder, or the URL of a store. Throws
 * `validation` for anything else; what was given is not repeated, because a URL may have a password in it.
 */
export function parseBackupTarget(text: string, { dataFolder }: Pick<Config, 'dataFolder'>): string {
  const wrong = (message: string, hint?: string) =>
    new WinterdockError('validation', `The place of backups ${message}.`, {
      extra: { errors: [{ path: 'target', message }] },
      ...(hint === undefined ? {} : { hint }),
    });
  let folder: string;
  let target: string;
  if (isStoreUrl(text)) {
    try {
      const address = parseStoreUrl(text);
      target = address.url;
      if (address.driver !== 'file') return target;
      folder = address.folder;
    } catch (error) {
      throw wrong(messageOf(error));
    }
  } else {
    if (!isAbsolute(text) || text.includes('\0') || resolve(text) === '/') {
      throw wrong('must be the absolute path of a folder, or s3://BUCKET/PREFIX');
    }
    folder = resolve(text);
    target = folder;
  }
  const [place, data] = [realOf(folder), realOf(dataFolder)];
  if (isWithin(place, data)) throw wrong('must not be in the data folder', 'It would be lost with it.');
  if (isWithin(data, place)) throw wrong('must not hold the data folder', 'Name a folder beside it, or another disk.');
  return target;
}

/** The path without links, as far as it leads to something. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!leadsNowhere(error) || dirname(path) === path) return path;
    return join(realOf(dirname(path)), basename(path));
  }
}

function isWithin(path: string, folder: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true;
    if (at === dirname(at)) return false;
  }
}

/**
 * Opens the place of a target as parseBackupTarget returned it. `draftsIn`: absolute path of a folder of this machine
 * for what goes to a store, which is made. The place of a store is closed by `close`.
 */
export async function openPlace(
  target: string,
  { store }: Pick<Config, 'store'>,
  draftsIn: string,
): Promise<{ place: BackupPlace; close: () => Promise<void> }> {
  if (!isStoreUrl(target)) return { place: folderPlace(target), close: async () => {} };
  const opened = await openObjectStore(target, store.connection);
  return { place: storePlace(opened, draftsIn), close: () => opened.close() };
}

/** Opens the store below the drawers when it is first needed; null: none is set. `close` may come at any time. */
export function coldStoreOf({ store }: Pick<Config, 'store'>): {
  open: (() => Promise<ObjectStore>) | null;
  close: () => Promise<void>;
} {
  const { cold, connection } = store;
  let opened: Promise<ObjectStore> | null = null;
  return {
    open:
      cold === null
        ? null
        : () => {
            opened ??= openObjectStore(cold.url, connection);
            return opened;
          },
    async close() {
      await (await opened?.catch(() => null))?.close();
    },
  };
}
