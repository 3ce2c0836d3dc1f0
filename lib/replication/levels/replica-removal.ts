/**
 * What leaves a replica at once: everything of a forgotten sandbox, and of a forgotten tenant's bundles. A list that is
 * old or incomplete lets something stay until it is listed again.
 */
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { tenantPrefix } from '../names/bundle-names.ts';
import { replicaPrefix } from '../names/replica-names.ts';

type RemovalStore = Pick<ObjectStore, 'list' | 'purge'>;

/** Lists in a row that have to be empty: the first may be of before the last removal. */
const EMPTY_LISTS = 2;

export interface RemovedSegments {
  removed: number;
  /** Until when a lock of the store keeps bytes of them (epoch milliseconds); null: nothing remains. */
  remainsUntil: number | null;
}

/** Removes everything of a sandbox, every version of it. Stops between two names once `isOver` says so. */
export async function removeReplicaOf(
  store: RemovalStore,
  id: string,
  isOver: () => boolean = () => false,
): Promise<RemovedSegments> {
  return removeUnder(store, replicaPrefix(id), isOver);
}

/** Removes every bundle of a tenant, in the same way. */
export async function removeBundlesOf(
  store: RemovalStore,
  tenant: string,
  isOver: () => boolean = () => false,
): Promise<RemovedSegments> {
  return removeUnder(store, tenantPrefix(tenant), isOver);
}

async function removeUnder(store: RemovalStore, prefix: string, isOver: () => boolean): Promise<RemovedSegments> {
  const all: RemovedSegments = { removed: 0, remainsUntil: null };
  const gone = new Set<string>();
  for (let empty = 0; empty < EMPTY_LISTS && !isOver(); ) {
    const names = await namesUnder(store, prefix);
    const left = names.filter((name) => !gone.has(name));
    empty = left.length === 0 ? empty + 1 : 0;
    await purge(store, left, all, isOver);
    for (const name of left) gone.add(name);
  }
  return all;
}

async function namesUnder(store: RemovalStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const page of store.list(prefix)) names.push(...page.map(({ name }) => name));
  return names;
}

async function purge(
  store: RemovalStore,
  names: readonly string[],
  all: RemovedSegments,
  isOver: () => boolean,
): Promise<void> {
  for (const name of names) {
    if (isOver()) return;
    const { remainsUntil } = await store.purge(name);
    all.removed += 1;
    if (remainsUntil !== null) all.remainsUntil = Math.max(all.remainsUntil ?? 0, remainsUntil);
  }
}
