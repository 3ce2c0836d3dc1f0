/**
 * Opens the store of a URL. What every store does alike is here: names are checked, every change goes through the seam
 * for effects, and files are moved by a process of their own.
 */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { performing, unlinkFile } from '../../base/effects.ts';
import { parseStoreUrl, type StoreConnection } from '../../base/store-url.ts';
import { isThereNow } from '../../base/strangers-file.ts';
import { requireObjectName, requireObjectPrefix } from './object-names.ts';
import { MOST_DOCUMENT_BYTES, type ObjectStore, type Transferred } from './object-store.ts';
import { openDriver } from './open-driver.ts';
import { probeTraits } from './probe.ts';
import type { StoreDriver } from './store-driver.ts';
import { objectTooLarge } from './store-errors.ts';
import { leftByTransfer } from './transfer-garbage.ts';
import { TransferProcesses } from './transfer-process.ts';
import { downloadFile, objectPieces, uploadFile } from './transfers.ts';

/** Up to these bytes a transfer in this process costs less than another process does. */
const SMALL_BYTES = 4 * 1024 * 1024;
/** The most milliseconds for removing what an ended process has left. */
const CLEAR_MS = 5000;

/**
 * Opens the store of `url`. `makes`: as of `openDriver`. Throws an Error that does not repeat the URL when that is none
 * of a store, and `storage_unavailable` when it is a folder that is not there.
 */
export async function openObjectStore(
  url: string,
  connection: StoreConnection,
  options: { makes?: boolean } = {},
): Promise<ObjectStore> {
  const address = parseStoreUrl(url);
  const driver = await openDriver(address, connection, options);
  return objectStoreOf(address.url, driver, new TransferProcesses(address, connection));
}

/** A transfer in this process. */
async function here(transfer: Promise<Transferred>): Promise<Transferred> {
  const transferred = await transfer;
  leftByTransfer(transferred.bytes);
  return transferred;
}

/** A store over a driver. */
function objectStoreOf(url: string, driver: StoreDriver, processes: TransferProcesses): ObjectStore {
  const changing = <T>(kind: 'store_put' | 'store_remove', name: string, work: () => Promise<T>): Promise<T> => {
    requireObjectName(name);
    return performing({ kind, path: `${url}/${name}` }, work);
  };
  const requireDocument = (name: string, bytes: number) => {
    if (bytes > MOST_DOCUMENT_BYTES) throw objectTooLarge(name, MOST_DOCUMENT_BYTES);
  };
  return {
    url,
    async put(name, bytes, options = {}) {
      requireDocument(name, bytes.length);
      return changing('store_put', name, () => driver.put(name, bytes, options));
    },
    async get(name, { most = MOST_DOCUMENT_BYTES, signal } = {}) {
      requireObjectName(name);
      return driver.get(name, most, signal);
    },
    async open(name, { range, signal } = {}) {
      requireObjectName(name);
      const first = await driver.open(name, range, signal);
      return Readable.from(objectPieces(driver, name, { range, signal, first }), { objectMode: false });
    },
    upload: async (name, path, options = {}) =>
      changing('store_put', name, async () => {
        const { size } = await stat(path);
        if (size <= SMALL_BYTES) return here(uploadFile(driver, name, path, options));
        const { signal, progress, ...task } = options;
        // The next one who purges this name removes what cannot be removed now.
        const clear = async () => void (await driver.purge(name, AbortSignal.timeout(CLEAR_MS)).catch(() => undefined));
        // The process opens the store anew, and would take what is in its place for it.
        await driver.requireThere?.();
        const stored = await processes.run({ kind: 'upload', name, path, options: task }, { signal, progress, clear });
        await driver.requireThere?.();
        return stored;
      }),
    async download(name, path, options = {}) {
      requireObjectName(name);
      const { signal, progress, ...task } = options;
      const isSmall = task.bytes !== undefined && task.bytes <= SMALL_BYTES && !task.packed && !task.expand;
      if (isSmall) return here(downloadFile(driver, name, path, options));
      // A process that is ended says nothing of whether the file is its own.
      if (isThereNow(path)) throw Object.assign(new Error('EEXIST: open'), { code: 'EEXIST', syscall: 'open' });
      const clear = () => unlinkFile(path);
      return performing({ kind: 'delegate', path }, () =>
        processes.run({ kind: 'download', name, path, options: task }, { signal, progress, clear }),
      );
    },
    async head(name, { signal } = {}) {
      requireObjectName(name);
      return driver.head(name, signal);
    },
    list(prefix, { signal } = {}) {
      requireObjectPrefix(prefix);
      return driver.list(prefix, signal);
    },
    remove: async (name, { signal } = {}) => changing('store_remove', name, () => driver.remove(name, signal)),
    purge: async (name, { signal } = {}) => changing('store_remove', name, () => driver.purge(name, signal)),
    async copy(from, to, { signal } = {}) {
      requireObjectName(from);
      requireObjectName(to);
      const effect = { kind: 'store_copy', path: `${url}/${from}`, to: `${url}/${to}` } as const;
      return performing(effect, () => driver.copy(from, to, signal));
    },
    traits: ({ signal } = {}) => probeTraits(url, driver, signal),
    async close() {
      await processes.close();
      driver.close();
    },
  };
}
