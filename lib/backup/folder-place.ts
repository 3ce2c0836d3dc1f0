/**
 * A folder as a place of backups. Each file is written beside its place and renamed; links and other things than files
 * are never followed. Knows nothing of what is in a backup.
 */
import { randomUUID } from 'node:crypto';
import { type Dirent, lstatSync } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  chmodFile,
  makeFolder,
  removeTree,
  renameFile,
  syncFile,
  syncFolder,
  unlinkFile,
  writeFile,
} from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { leadsNowhere } from '../base/is-there.ts';
import { type BackupPlace, objectName, type PlacedFile } from './place.ts';

/** Name of the file that is locked while a backup is written. */
export const LOCK = 'lock.sqlite';
/** Nothing changes an object any more. */
const SEALED = 0o400;

/** The path of an object in a backup folder. */
export function objectPath(folder: string, sha256: string): string {
  return join(folder, objectName(sha256));
}

/** The place in `folder` (absolute). Nothing is made before something is written. */
export function folderPlace(folder: string): BackupPlace {
  const at = (name: string) => join(folder, name);
  const drafts = at('drafts');
  /** Stat of a file; null for what is none: a link is no file of a backup. */
  const statOf = async (name: string) => {
    const stat = await lstat(at(name)).catch((error: unknown) => {
      if (leadsNowhere(error)) return null;
      throw error;
    });
    return stat?.isFile() ? stat : null;
  };
  const entriesIn = async (path: string): Promise<Dirent[]> => {
    try {
      return await readdir(path, { withFileTypes: true });
    } catch (error) {
      if (leadsNowhere(error)) return [];
      throw error;
    }
  };
  /** Folders down from the place, so that no name on the way is a link to elsewhere. */
  const requireOwn = async (name: string): Promise<void> => {
    const steps = dirname(name).split('/');
    for (let count = 1; count <= steps.length; count += 1) {
      const part = steps.slice(0, count).join('/');
      if (part === '.') return;
      const stat = await lstat(at(part)).catch(() => null);
      if (stat === null || stat.isDirectory()) continue;
      throw new WinterdockError('conflict', `${at(part)} is not a folder of its own: it is a link or a file.`, {
        hint: 'Remove it, or choose another folder for backups.',
      });
    }
  };
  const place = async (draft: string, name: string): Promise<void> => {
    await requireOwn(name);
    const to = at(name);
    await makeFolder(dirname(to));
    await renameFile(draft, to);
    for (let path = dirname(to); path !== dirname(folder); path = dirname(path)) await syncFolder(path);
  };

  return {
    name: folder,
    async *list(prefix) {
      const walk = async function* (part: string): AsyncGenerator<readonly PlacedFile[]> {
        const found: PlacedFile[] = [];
        for (const entry of await entriesIn(at(part))) {
          const name = `${part}${entry.name}`;
          if (entry.isDirectory()) yield* walk(`${name}/`);
          const stat = entry.isFile() ? await statOf(name) : null;
          if (stat !== null) found.push({ name, bytes: stat.size, atMs: stat.mtimeMs });
        }
        yield found;
      };
      await requireOwn(`${prefix}name`);
      yield* walk(prefix);
    },
    async read(name) {
      if ((await statOf(name)) === null) return null;
      const handle = await open(at(name), 'r');
      try {
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    },
    bytesOf: async (name) => (await statOf(name))?.size ?? null,
    async write(name, text) {
      await requireOwn('drafts/name');
      await makeFolder(drafts);
      const draft = join(drafts, randomUUID());
      await writeFile(draft, text);
      await syncFile(draft);
      await place(draft, name);
      await syncFolder(dirname(folder));
    },
    async keep(draft, name) {
      await chmodFile(draft, SEALED);
      await place(draft, name);
    },
    fetch: async (name) => ((await statOf(name)) === null ? null : at(name)),
    async remove(name) {
      await requireOwn(name);
      await unlinkFile(at(name));
    },
    async drafts() {
      await requireOwn('drafts/name');
      await removeTree(drafts);
      await makeFolder(drafts);
      return drafts;
    },
    async hold() {
      await makeFolder(folder);
      return lockTarget(folder);
    },
    isAlone: async () => true,
    close: () => removeTree(drafts),
  };
}

/** SQLite's code for a file that another holds. */
const BUSY = 5;

/**
 * Holds a folder that a backup is written to by an exclusive transaction, which the kernel lets go when the process is
 * gone, however it went. Throws `conflict`, and `storage_unavailable` for a folder that takes no file.
 */
export function lockTarget(folder: string): () => void {
  const path = join(folder, LOCK);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new WinterdockError('conflict', `${path} is a link.`, { hint: 'Remove it.' });
  }
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) {
      throw new WinterdockError('conflict', `Another backup is being written to ${folder}.`, { cause: error });
    }
    throw new WinterdockError('storage_unavailable', `No file can be written to ${folder}: ${messageOf(error)}.`, {
      hint: 'Is its disk there, with room, and may the server write to it?',
      cause: error,
    });
  }
  const held = database;
  return () => {
    if (held.isOpen) held.close();
  };
}
