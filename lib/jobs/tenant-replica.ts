/** What a replica has of a forgotten tenant: every segment of each of its sandboxes, by the ids of their rows. */
import type { InstanceId } from '../base/ids.ts';
import type { Registry } from '../registry/registry.ts';
import type { RemovedSegments } from '../replication/levels/replica-removal.ts';

/** Rows read at a time. */
const PAGE = 200;

/** The replica that a tenant's sandboxes are in. */
export interface ReplicaOfTenants {
  /** Removes everything of a deleted sandbox: on this machine, on its way, and in the store. */
  forget(id: InstanceId, isOver: () => boolean): Promise<RemovedSegments>;
  /** Removes every bundle of a tenant, of whose sandboxes nothing is on its way any more. */
  forgetBundles(tenant: string, isOver: () => boolean): Promise<RemovedSegments>;
  /** Removes the files of snapshots and blueprints that no row needs any more; returns how many. */
  forgetCopies(isOver: () => boolean): Promise<number>;
  /**
   * Begins the replica of the registry anew, once its log was emptied, and removes every moment of it from before. May
   * be repeated. Throws what the store throws.
   */
  rebaseRegistry(isOver: () => boolean): Promise<void>;
}

/**
 * Removes all of it; every sandbox of the tenant is deleted by now, and its rows are there still. May be repeated.
 * Throws what the store throws: then it is tried again.
 */
export async function purgeReplicaOf(
  registry: Pick<Registry, 'instances'>,
  replica: ReplicaOfTenants | null,
  tenant: string,
  isOver: () => boolean,
): Promise<Record<string, number>> {
  if (replica === null) return {};
  let removed = 0;
  let kept = 0;
  // Before the segments: nothing is merged from what is gone. And after them: what was on its way has arrived.
  const bundles = [await replica.forgetBundles(tenant, isOver)];
  for (let cursor: string | null | undefined; cursor !== null && !isOver(); ) {
    const page = await registry.instances.list({
      tenant,
      state: 'deleted',
      sort: 'created',
      reverse: false,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id } of page.rows) {
      const gone = await replica.forget(id, isOver);
      removed += gone.removed;
      if (gone.remainsUntil !== null) kept += 1;
    }
    cursor = page.next;
  }
  if (!isOver()) bundles.push(await replica.forgetBundles(tenant, isOver));
  if (bundles.some(({ remainsUntil }) => remainsUntil !== null)) kept += 1;
  const copies = isOver() ? 0 : await replica.forgetCopies(isOver);
  return {
    'segments in the replica': removed,
    'bundles in the replica': bundles.reduce((sum, one) => sum + one.removed, 0),
    'copies in the replica': copies,
    'replicas that a lock of the store keeps': kept,
  };
}
