/** How the open registry lies in its SQLite file, or in memory. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder, unlinkFile } from '../../base/effects.ts';
import type { RegistryStorage } from '../storage.ts';
import type { RegistryDatabase } from './database.ts';
import { quickCheckInThread } from './quick-check.ts';
import { realPathOf } from './real-path.ts';
import { instanceText } from './text-index.ts';
import type { SyncMethods } from './to-async.ts';

interface StorageParts {
  database: RegistryDatabase;
  /** The real path of the file, or `:memory:`. */
  path: string;
  /** The path that it was named by, which may be a link to it: earlier versions kept copies beside that. */
  link: string;
  /** Called when the text index has lost words. */
  textsRemoved(): void;
}

/** The storage of an open registry. */
export function openStorage({ database, path, link, textsRemoved }: StorageParts): SyncMethods<RegistryStorage> {
  /** A command of FTS5 in the form of an insert: rebuilds the index without the words of removed rows. */
  const optimize = database.statement((queries) =>
    queries.insert(instanceText).values({ rowid: 0, match: 'optimize' }).prepare(),
  );
  const inMemory = database.client.memory;
  const keptCopies = async () => (inMemory ? [] : [...new Set([...(await copiesOf(path)), ...(await copiesOf(link))])]);
  return {
    async status() {
      const { bytes, freeBytes } = database.sizes();
      if (inMemory) return { path: null, database: null, bytes, freeBytes, logBytes: 0, checkpointed: null };
      const [file, log] = await Promise.all([statOrNull(path), statOrNull(`${path}-wal`)]);
      return {
        path: link,
        database: null,
        bytes: file?.size ?? 0,
        freeBytes,
        logBytes: log?.size ?? 0,
        checkpointed: file === null ? null : Math.floor(file.mtimeMs / 1000),
      };
    },
    // A registry in memory has no file that could be damaged.
    check: async (signal) => (inMemory ? 'ok' : quickCheckInThread(path, signal)),
    upgrade: () => database.upgraded,
    checkpoint: () => database.checkpoint(),
    compact() {
      database.write(() => optimize().run());
      textsRemoved();
      database.compact();
    },
    emptyLog: () => database.emptyLog(),
    keptCopies: async () => (await keptCopies()).map((copy) => basename(copy)).sort(),
    async removeKeptCopies() {
      const copies = await keptCopies();
      for (const copy of copies) await unlinkFile(copy);
      for (const folder of new Set(copies.map((copy) => dirname(copy)))) await syncFolder(folder);
      return copies.length;
    },
  };
}

/** Absolute real paths of the copies that upgrades kept beside a file, finished or not. */
async function copiesOf(path: string): Promise<string[]> {
  const [folder, name] = [realPathOf(dirname(path)), basename(path)];
  const names = await readdir(folder);
  const isCopy = (one: string) => one.startsWith(`${name}.before-`) || one === `${name}.unfinished`;
  return names.filter(isCopy).map((one) => join(folder, one));
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
