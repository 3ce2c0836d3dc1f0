/**
 * The object store against the registry: whether it is this installation's, what it does not keep, what killed probes
 * left, and, when everything is to be looked at, whether each named object is there and which objects nobody named. A
 * look changes nothing; while the store is away nothing is said of any object.
 */
import { isCloudAddress, objectNameOf } from '../base/cloud-address.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import { lacksInWords } from '../health/store-report.ts';
import type { RegistryMoment } from '../registry/driver.ts';
import { LISTING_SUFFIX, ROW_SUFFIX } from '../sandboxes/store/row-document.ts';
import { readMarker } from '../storage/object-store/marker.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { isProbeName, PROBES } from '../storage/object-store/probe.ts';
import type { Finding } from './findings.ts';

/** An upload that is under way has a name by then, or none that anybody recorded. */
const YOUNG_MS = 86_400_000;
const PAGE = 500;
const OBJECTS = 'drawers/';

export interface StoreExamination {
  store: ObjectStore;
  registry: RegistryMoment;
  /** Asks for every object that is named, and lists those that are not. */
  full: boolean;
  nowMs: number;
  find: (finding: Finding) => void;
}

/** Finds what is wrong with the store. Never throws for one that is away: that is the finding. */
export async function examineStore(examination: StoreExamination): Promise<void> {
  const { store, full, find } = examination;
  const about = { about: null, path: null, way: null } as const;
  try {
    const marker = await readMarker(store);
    const id = await examination.registry.fact('installation');
    if (marker === null) {
      find({
        ...about,
        kind: 'store.unmarked',
        weight: 'wrong',
        says: `${store.url} has no marker of this installation`,
      });
      return;
    }
    if (marker === 'other' || marker.id !== id) {
      find({ ...about, kind: 'store.foreign', weight: 'wrong', says: `${store.url} is another installation's` });
      return;
    }
    for (const says of lacksInWords(await store.traits()))
      find({ ...about, kind: 'store.lacks', weight: 'note', says: `the store: ${says}` });
    await examineProbes(examination);
    if (!full) return;
    await examineNamed(examination);
    await examineUnnamed(examination);
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'storage_unavailable') throw error;
    find({ ...about, kind: 'store.away', weight: 'wrong', says: messageOf(error).replace(/\.$/, '') });
  }
}

/** What a start wrote to try the store, and was killed before it removed it. Younger ones may be of one under way. */
async function examineProbes({ store, nowMs, find }: StoreExamination): Promise<void> {
  for await (const page of store.list(PROBES)) {
    for (const { name, at } of page) {
      if (nowMs - at < YOUNG_MS || !isProbeName(name)) continue;
      find({
        kind: 'probe.left',
        weight: 'note',
        way: 'fix',
        about: null,
        path: name,
        says: 'it was written to try the store, by a start that was killed: nothing needs it',
      });
    }
  }
}

/**
 * Removes what `examineStore` found of killed probes, with all its versions, where it is that old still. Returns how
 * many objects; throws what the store throws.
 */
export async function removeProbes(
  store: ObjectStore,
  findings: readonly Pick<Finding, 'kind' | 'path'>[],
  nowMs: number,
): Promise<number> {
  let removed = 0;
  for (const { kind, path } of findings) {
    if (kind !== 'probe.left' || path === null || !isProbeName(path)) continue;
    const found = await store.head(path);
    if (found === null || nowMs - found.at < YOUNG_MS) continue;
    await store.purge(path);
    removed += 1;
  }
  return removed;
}

/** Objects that rows name. One that the store does not have is asked for by nobody before its file is needed. */
async function examineNamed({ store, registry, find }: StoreExamination): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows = await registry.rows(after, PAGE);
    for (const { id, vfsPath, stored } of rows) {
      if (stored === null || !isCloudAddress(vfsPath) || vfsPath !== stored.address) continue;
      const name = objectNameOf(stored.address);
      const found = await store.head(name);
      const says = found === null ? 'the store says that it has no such object' : 'the object has another size';
      if (found?.bytes === stored.bytes) continue;
      const kind = found === null ? 'object.missing' : 'object.changed';
      find({ kind, weight: 'wrong', way: null, about: id, path: name, says });
    }
    after = rows.at(-1)?.id;
  }
}

/** Objects that no name of the registry leads to. A person removes them; nothing else does. */
async function examineUnnamed({ store, registry, nowMs, find }: StoreExamination): Promise<void> {
  for (const begin of [OBJECTS, PROBES]) await examineUnnamedBelow(begin, { store, registry, nowMs, find });
}

async function examineUnnamedBelow(
  begin: string,
  { store, registry, nowMs, find }: Omit<StoreExamination, 'full'>,
): Promise<void> {
  for await (const page of store.list(begin)) {
    for (const { name, at } of page) {
      if (isProbeName(name)) continue;
      const beside = [ROW_SUFFIX, LISTING_SUFFIX].find((suffix) => name.endsWith(suffix)) ?? '';
      const object = name.slice(0, name.length - beside.length);
      if (nowMs - at < YOUNG_MS || (await registry.hasStoreName(object))) continue;
      find({
        kind: 'object.unknown',
        weight: 'note',
        way: null,
        about: null,
        path: name,
        says: 'this registry never named it: remove it from the store by hand, if nobody else did',
      });
    }
  }
}
