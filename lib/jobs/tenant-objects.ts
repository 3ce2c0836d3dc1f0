/**
 * A forgotten tenant's objects in the store. The names are the registry's, so nothing depends on what the store lists;
 * every version, marker and unfinished upload under them goes. What a lock of the store keeps stays named, and the
 * collector removes it when the lock has ended; so does the name of an upload under way, whose object may appear yet.
 */
import type { Registry } from '../registry/registry.ts';
import type { StoreNameState } from '../registry/store-names.ts';
import { LISTING_SUFFIX, ROW_SUFFIX } from '../sandboxes/store/row-document.ts';
import type { ObjectStore, StoreTraits } from '../storage/object-store/object-store.ts';

/** Names read at a time. */
const PAGE = 200;
const DAY_S = 86_400;

type Names = Pick<Registry, 'storeNames'>;

/** The store that a tenant's objects are in, and what was found of it at the start. */
export interface TenantStore {
  objects: Pick<ObjectStore, 'purge'>;
  traits: () => Pick<StoreTraits, 'lockDays'> | null;
  /** Names of uploads that were under way when their tenant was forgotten: only the collector removes them. */
  late: Set<string>;
}

async function* namesOf(
  { storeNames }: Names,
  tenant: string,
): AsyncGenerator<readonly { name: string; begunMs: number; state: StoreNameState }[]> {
  for (let after = ''; ; ) {
    const names = await storeNames.ofTenant(tenant, after, PAGE);
    if (names.length === 0) return;
    yield names;
    after = names.at(-1)?.name ?? after;
  }
}

/** What the store has of a tenant, and until when a lock keeps bytes of it (epoch seconds); null: none would. */
export async function countObjectsOf(
  registry: Names,
  store: TenantStore | null,
  tenant: string,
): Promise<{ objects: number; remain_until: number | null }> {
  let objects = 0;
  let newestMs = 0;
  for await (const names of namesOf(registry, tenant)) {
    objects += names.length;
    for (const { begunMs } of names) newestMs = Math.max(newestMs, begunMs);
  }
  const days = store?.traits()?.lockDays ?? 0;
  return { objects, remain_until: objects > 0 && days > 0 ? Math.floor(newestMs / 1000) + days * DAY_S : null };
}

/**
 * Removes all of them; every sandbox and copy of the tenant is gone by now. Stops between two names once `isOver` says
 * so. May be repeated, also while an upload that was under way goes on. Throws what the store throws: then it is tried
 * again.
 */
export async function purgeObjectsOf(
  registry: Names,
  store: TenantStore | null,
  tenant: string,
  { nowMs, isOver }: { nowMs: number; isOver: () => boolean },
): Promise<Record<string, number>> {
  if (store === null) return {};
  let removed = 0;
  let kept = 0;
  let late = 0;
  for await (const names of namesOf(registry, tenant)) {
    await registry.storeNames.supersede(
      names.map(({ name }) => name),
      nowMs,
    );
    for (const { name, state } of names) {
      if (isOver()) return {};
      let remains = false;
      for (const part of [name + ROW_SUFFIX, name + LISTING_SUFFIX, name])
        if ((await store.objects.purge(part)).remainsUntil !== null) remains = true;
      if (remains) kept += 1;
      else if (state === 'uploading' || store.late.has(name)) {
        store.late.add(name);
        late += 1;
      } else {
        await registry.storeNames.remove(name);
        removed += 1;
      }
    }
  }
  return {
    'objects in the store': removed,
    'objects that a lock of the store keeps': kept,
    ...(late > 0 && { 'uploads under way, which the collector removes': late }),
  };
}
