/** The one place that knows which drivers of object stores there are. */
import type { StoreAddress, StoreConnection } from '../../base/store-url.ts';
import { openFileDriver } from './file-driver.ts';
import type { StoreDriver } from './store-driver.ts';

/**
 * `makes`: whether a folder is made where only its last part is missing. Throws `storage_unavailable` when the store is
 * a folder that is not there.
 */
export async function openDriver(
  address: StoreAddress,
  connection: StoreConnection,
  { makes = true }: { makes?: boolean } = {},
): Promise<StoreDriver> {
  switch (address.driver) {
    case 'file':
      return openFileDriver(address.folder, { makes });
    case 's3':
      // What it loads is large: a server without such a store never does.
      return (await import('./s3-driver.ts')).openS3Driver(address, connection);
  }
}
