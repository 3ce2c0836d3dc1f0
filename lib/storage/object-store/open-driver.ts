/** The one place that knows which drivers of object stores there are. */
import type { StoreAddress, StoreConnection } from '../../base/store-url.ts';
import { openFileDriver } from './file-driver.ts';
import type { StoreDriver } from './store-driver.ts';

/** Throws `storage_unavailable` when the store is a folder that is not there. */
export async function openDriver(address: StoreAddress, connection: StoreConnection): Promise<StoreDriver> {
  switch (address.driver) {
    case 'file':
      return openFileDriver(address.folder);
    case 's3':
      // What it loads is large: a server without such a store never does.
      return (await import('./s3-driver.ts')).openS3Driver(address, connection);
  }
}
