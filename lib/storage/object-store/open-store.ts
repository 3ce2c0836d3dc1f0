/**
 * Opens the store of a URL: the one place that knows which drivers there are. What every store does alike is here:
 * names are checked, and every change goes through the seam for effects.
 */
import { Readable } from 'node:stream';
import { performing } from '../../base/effects.ts';
import { parseStoreUrl, type StoreAddress, type StoreConnection } from '../../base/store-url.ts';
import { openFileDriver } from './file-driver.ts';
import { requireObjectName, requireObjectPrefix } from './object-names.ts';
import { MOST_DOCUMENT_BYTES, type ObjectStore } from './object-store.ts';
import { probeTraits } from './probe.ts';
import type { StoreDriver } from './store-driver.ts';
import { objectTooLarge } from './store-errors.ts';
import { downloadFile, objectPieces, uploadFile } from './transfers.ts';

/**
 * Opens the store of `url`. Throws an Error that does not repeat the URL when that is none of a store, and
 * `storage_unavailable` when it is a folder that is not there.
 */
export async function openObjectStore(url: string, connection: StoreConnection): Promise<ObjectStore> {
  const address = parseStoreUrl(url);
  return objectStoreOf(address.url, await openDriver(address, connection));
}

async function openDriver(address: StoreAddress, connection: StoreConnection): Promise<StoreDriver> {
  switch (address.driver) {
    case 'file':
      return openFileDriver(address.folder);
    case 's3':
      return (await import('./s3-driver.ts')).openS3Driver(address, connection);
  }
}

/** A store over a driver. */
function objectStoreOf(url: string, driver: StoreDriver): ObjectStore {
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
      return Readable.from(objectPieces(driver, name, range, signal, first), { objectMode: false });
    },
    upload: async (name, path, options = {}) =>
      changing('store_put', name, () => uploadFile(driver, name, path, options)),
    async download(name, path, options = {}) {
      requireObjectName(name);
      return downloadFile(driver, name, path, options);
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
    close: async () => driver.close(),
  };
}
