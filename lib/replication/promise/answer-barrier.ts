/** What whoever answers asks of the replica, so that an answer about a `sync` sandbox says nothing that it lacks. */
import type { InstanceId } from '../../base/ids.ts';
import type { InstanceRow } from '../../registry/types.ts';

/** What of a row says what is promised of it. */
export type PromisedRow = Pick<InstanceRow, 'id' | 'tenant' | 'replicate'>;

/** How long an answer waits, and what ends the wait. */
export interface AnswerPatience {
  /** It waits for a store that is away. Default: it fails. */
  isPatient?: boolean;
  /** Milliseconds at most. Default: as long as the store takes something. */
  mostMs?: number;
  signal?: AbortSignal;
}

/** What holds back answers. */
export interface AnswerBarrier {
  /**
   * Whether an answer about a sandbox can be given at once: nothing is promised of it, or the store has everything.
   * Asked for each call, and for each piece of its output. False also where that takes a look into the registry.
   */
  isInStep(id: InstanceId): boolean;
  /**
   * Resolves once the store has everything that was committed to a `sync` sandbox by now. Throws `not_replicated` with
   * `committed: "local"` when the store is away, or it took too long.
   */
  whenInStep(id: InstanceId, patience?: AnswerPatience): Promise<void>;
  /**
   * Throws `not_replicated` while it is known that nothing of a `sync` sandbox can reach the store: that is away, or
   * the spool has no room.
   */
  requireStore(id: InstanceId): Promise<void>;
  /** `requireStore` of sandboxes that are to be made, or deleted: `makesRoom`, where the spool is not asked. */
  requireStoreFor(row: PromisedRow, how?: { makesRoom?: boolean }): void;
  /** Resolves once the store has what the registry says of a `sync` sandbox now. Throws as `whenInStep`. */
  whenRecorded(row: PromisedRow, patience?: AnswerPatience): Promise<void>;
}
