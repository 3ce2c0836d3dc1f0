/** What a replica has of the rows of its registry's moment: which moment of each sandbox, and what it lacks. */
import { isCloudAddress } from '../base/cloud-address.ts';
import type { InstanceId } from '../base/ids.ts';
import type { LiveRegistryReader } from '../registry/driver.ts';
import type { InstanceRow } from '../registry/types.ts';
import { type FoundMoment, findMoment } from '../replication/moments/replica-reader.ts';
import { TenantBundles } from '../replication/segment-bundles/bundle-reader.ts';
import { MEMORY } from '../sandboxes/engine.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

/** Rows read of the registry at a time. */
const PAGE = 500;
/** Sandboxes looked for at the same time. */
const LOOKS_AT_ONCE = 16;
/** What a sandbox did is noted in whole seconds. */
const NOTED_MS = 1000;

/** The rows of a registry, or the one that is wanted. */
export async function rowsInMoment(reader: LiveRegistryReader, only: InstanceId | null): Promise<InstanceRow[]> {
  if (only !== null) {
    const row = await reader.row(only);
    return row === null ? [] : [row];
  }
  const rows: InstanceRow[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await reader.rows(after, PAGE);
    rows.push(...page);
    after = page.at(-1)?.id;
  }
  return rows;
}

/** The newest moment of each sandbox that needs one; in `bundles` are then those of their tenants. */
export async function newestMoments(
  { store, atMs }: { store: ObjectStore; atMs: number | null },
  rows: readonly InstanceRow[],
  ids: readonly string[],
  bundles: Map<string, TenantBundles>,
): Promise<Map<InstanceId, FoundMoment>> {
  const there = new Set(ids);
  const wanted = rows.filter(({ id, state, vfsPath }) => state !== 'deleted' && vfsPath !== MEMORY && there.has(id));
  const moments = new Map<InstanceId, FoundMoment>();
  await fewAtOnce(wanted, LOOKS_AT_ONCE, async ({ id, tenant, vfsPath, stored }) => {
    const own = bundles.get(tenant) ?? new TenantBundles(store, tenant);
    bundles.set(tenant, own);
    const moment = await findMoment(store, id, atMs, own);
    if (moment === null) return;
    // What is in the store below the drawers is left there, unless something was committed after it was stored.
    if (isCloudAddress(vfsPath) && stored !== null && moment.timeMs <= (stored.at + 1) * 1000) return;
    moments.set(id, moment);
  });
  return moments;
}

/** Once one fails no other is begun. Rejects with the first failure when nothing is under way any more. */
export async function fewAtOnce<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  const run = async () => {
    try {
      for (const one of left) await work(one);
    } finally {
      // Ends the others too, after a failure.
      Array.from(left);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, run));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Whether a sandbox was used after the moment that the replica can make: what it wrote then may be missing. */
export function isBehind({ state, updated }: InstanceRow, moment: FoundMoment | undefined): boolean {
  if (moment === undefined) return false;
  return moment.isShort || (state === 'active' && updated * 1000 > moment.timeMs + NOTED_MS);
}
