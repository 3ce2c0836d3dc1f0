/** An object store in a folder, for tests. */
import { pathToFileURL } from 'node:url';
import type { StoreConnection } from '../../../base/store-url.ts';
import type { ObjectStore } from '../../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../../storage/object-store/open-store.ts';

const CONNECTION: StoreConnection = {
  endpoint: null,
  region: 'us-east-1',
  pathStyle: false,
  encryption: null,
  credentials: {},
};

/** `folder`: absolute; it is made. */
export function folderStore(folder: string): Promise<ObjectStore> {
  return openObjectStore(pathToFileURL(folder).href, CONNECTION);
}
