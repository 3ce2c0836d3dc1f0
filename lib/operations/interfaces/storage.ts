/** The operations about how the store does. */
import type { Caller } from '../../auth/caller.ts';
import type { Storage, StorageCheckInput } from '../../contract/schema/storage.ts';

export interface StorageOperations {
  /** Costs the same whatever there is; what takes longer is as old as it says. */
  storage(caller: Caller): Promise<Storage>;
  /**
   * Checks the registry or measures the drawers. Answers once it is done, or after some seconds with what is known by
   * then.
   */
  checkStorage(caller: Caller, input: StorageCheckInput): Promise<Storage>;
}
