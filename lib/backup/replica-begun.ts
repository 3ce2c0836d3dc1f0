/**
 * Sandboxes that were awake for the first time so shortly before a moment that nothing of them was shipped. What the
 * replica knows of them is how they began: empty, or with the file of a snapshot or blueprint.
 */
import type { CopyKind } from '../base/copy-paths.ts';
import type { InstanceId } from '../base/ids.ts';
import type { LiveRegistryReader } from '../registry/driver.ts';
import type { InstanceRow } from '../registry/types.ts';
import { livePath } from '../sandboxes/engine.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { copyInReplica } from './replica-extras.ts';
import type { ReplicaReport } from './replica-report.ts';
import { fewAtOnce } from './replica-rows.ts';

/** One that is younger may not be in the replica yet, in milliseconds. */
const YOUNG_MS = 60_000;
/** Sandboxes looked for at the same time. */
const LOOKS_AT_ONCE = 4;

/** How a sandbox comes back of which nothing was shipped. */
export type Begun =
  | { kind: 'empty' }
  /** With this file of the replica. `of`: the copy, in words. */
  | { kind: 'origin'; name: string; sha256: string; bytes: number; of: string }
  /** Not at all. `why` is a clause that says the way out. */
  | { kind: 'missing'; why: string };

/** Those of these rows that had just begun: see Begun. */
export async function allBegun(
  store: Pick<ObjectStore, 'head'>,
  reader: Pick<LiveRegistryReader, 'originOf'>,
  rows: readonly InstanceRow[],
  registryMs: number,
): Promise<Map<InstanceId, Begun>> {
  const all = new Map<InstanceId, Begun>();
  await fewAtOnce(rows, LOOKS_AT_ONCE, async (row) => {
    const begun = await begunOf(store, reader, row, registryMs);
    if (begun !== null) all.set(row.id, begun);
  });
  return all;
}

/** As a report has them. */
export function wordsOfBegun(begun: ReadonlyMap<InstanceId, Begun>): ReplicaReport['begun'] {
  return new Map(
    [...begun].flatMap(([id, one]) => (one.kind === 'missing' ? [] : [[id, one.kind === 'origin' ? one.of : null]])),
  );
}

/** How it began; null for any other sandbox, of which the replica should have something. */
async function begunOf(
  store: Pick<ObjectStore, 'head'>,
  reader: Pick<LiveRegistryReader, 'originOf'>,
  row: InstanceRow,
  registryMs: number,
): Promise<Begun | null> {
  const { state, vfsPath, file, stored, stateSince, lineageBlueprint, lineageSnapshot, lineageParent } = row;
  const isFresh = file === null && stored === null && vfsPath !== null && vfsPath === livePath(row.id);
  if (state !== 'active' || !isFresh || registryMs - stateSince * 1000 >= YOUNG_MS) return null;
  if (lineageBlueprint === null && lineageSnapshot === null && lineageParent === null) return { kind: 'empty' };
  const origin = await reader.originOf(row);
  if (origin === null) return { kind: 'missing', why: 'what it was made of cannot be told any more: make it again' };
  const { kind, hash, bytes } = origin;
  const of = inWords(kind, origin.name);
  const name = copyInReplica(kind, hash);
  if ((await store.head(name)) !== null) return { kind: 'origin', name, sha256: hash, bytes, of };
  const way = kind === 'snapshot' ? 'put that in its place' : 'make it again of that';
  return { kind: 'missing', why: `it had just begun as ${of}, whose file is not in the replica: ${way}` };
}

const inWords = (kind: CopyKind, name: string) => `the ${kind} ${name}`;
