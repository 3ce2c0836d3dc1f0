/**
 * What leaves the bundles of a replica with time. A bundle goes as a whole, once everything in it is in segments of
 * higher levels that are as old as every commit is kept (of minutes: as minutes are), and the store has; or nothing can
 * be made of it any more. What was not merged is, so that this day comes.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ReplicaKeeps } from '../../base/replica-retention.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { ALL_BUNDLES, type BundlePlace, compareBundles, minuteMs, minuteOf } from '../names/bundle-names.ts';
import { type BundledSegment, type BundleIndex, isObjectLost } from '../segment-bundles/bundle-format.ts';
import {
  bundlesOf,
  type ListedBundle,
  manyAtOnce,
  readIndex,
  TenantBundles,
} from '../segment-bundles/bundle-reader.ts';
import { lackingInLevels, mergeLacking, OwnObjects } from './bundle-cover.ts';
import type { SegmentLevels } from './segment-levels.ts';

/** What is younger is merged by whoever ships it, in minutes. */
const LATE = 120;
const HOUR_MS = 3_600_000;

export interface BundleAgingParts {
  store: Pick<ObjectStore, 'list' | 'head' | 'open'>;
  /** Removes an object, and every version of it that the store keeps. */
  remove: (name: string) => Promise<unknown>;
  levels: Pick<SegmentLevels, 'add'>;
  keeps: Pick<ReplicaKeeps, 'commitsMs' | 'minutesMs'>;
  nowMs: number;
  log: Logger;
  isOver: () => boolean;
}

/** One round of all tenants; returns how many bundles went. Throws what the store throws. */
export async function ageBundles(parts: BundleAgingParts): Promise<number> {
  const { store, nowMs, isOver } = parts;
  const tenants = new Map<string, ListedBundle[]>();
  for await (const page of store.list(ALL_BUNDLES)) {
    if (isOver()) return 0;
    for (const bundle of bundlesOf(page)) {
      const old = tenants.get(bundle.tenant) ?? [];
      tenants.set(bundle.tenant, old);
      if (bundle.minute < minuteOf(nowMs - keptMs(parts, bundle))) old.push(bundle);
    }
  }
  let removed = 0;
  for (const [tenant, old] of tenants) {
    if (isOver()) break;
    const [first] = old.sort(compareBundles);
    // A segment is merged after it was stored, by any clock within the hour.
    const objects = new OwnObjects(store, first === undefined ? 0 : minuteMs(first.minute) - HOUR_MS);
    await manyAtOnce(old, async (bundle) => {
      if (isOver() || !(await isUseless(parts, objects, bundle))) return;
      await parts.remove(bundle.name);
      removed += 1;
    });
    await mergeLate(parts, tenant);
  }
  return removed;
}

/** As long as what is in it is kept, whatever has it too. */
const keptMs = ({ keeps }: BundleAgingParts, { level }: BundlePlace) => [keeps.commitsMs, keeps.minutesMs][level] ?? 0;

async function isUseless(parts: BundleAgingParts, objects: OwnObjects, bundle: ListedBundle): Promise<boolean> {
  const { store, keeps, nowMs } = parts;
  const index = await read(parts, bundle);
  // For so long somebody may put a sound one in its place.
  if (index === null) return minuteMs(bundle.minute) < nowMs - keeps.minutesMs && (await read(parts, bundle)) === null;
  for (const segment of index.segments) {
    const cover = await objects.coverOf(segment);
    const isCovered = cover !== null && cover.at < nowMs - keptMs(parts, bundle) && (await objects.isThere(cover));
    if (!isCovered && !(await hasNoBase(store, objects, segment))) return false;
  }
  return true;
}

/** A list may lack something: it is asked twice. */
async function hasNoBase(
  store: BundleAgingParts['store'],
  objects: OwnObjects,
  { id, series }: BundledSegment,
): Promise<boolean> {
  return !(await objects.hasBase(id, series)) && !(await new OwnObjects(store).hasBase(id, series));
}

async function read({ store, log }: BundleAgingParts, bundle: ListedBundle): Promise<BundleIndex | null> {
  try {
    return await readIndex(store, bundle);
  } catch (error) {
    // What is damaged of one keeps nothing of the others.
    if (!isObjectLost(error)) throw error;
    log.warn({ name: bundle.name, error: messageOf(error) }, 'a bundle of segments stays in the replica');
    return null;
  }
}

/** Has merged what was left out: by a stop, or by failures. */
async function mergeLate(parts: BundleAgingParts, tenant: string): Promise<void> {
  const { store, nowMs, levels } = parts;
  const bundles = new TenantBundles(store, tenant, { nowMs: () => nowMs });
  const newest = await bundles.newest();
  if (newest === null) return;
  const lacking = await lackingInLevels(store, bundles, newest.since, minuteOf(nowMs) - LATE);
  if (!parts.isOver()) mergeLacking(levels, lacking);
}
