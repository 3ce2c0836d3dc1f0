/** What a restore from a replica tells, and writes into the ledger. Words and numbers alone. */
import type { InstanceId } from '../base/ids.ts';

export interface ReplicaReport {
  /** Of the store. */
  readonly url: string;
  /** Whose it is. */
  readonly installation: string;
  /** Epoch milliseconds of the moment that the registry is of. */
  readonly registryMs: number;
  /** The largest term of a series in the replica. */
  readonly lastTerm: number;
  /** Of each sandbox that has a file in the replica: when what it has was committed, in epoch milliseconds. */
  readonly moments: ReadonlyMap<InstanceId, number>;
  /** Ids of which the replica has a file and the registry's moment no row: they were created after it. */
  readonly notRestored: readonly string[];
  /**
   * Sandboxes that were awake for the first time and not shipped yet: they come back as they began. Each with the
   * snapshot or blueprint that it was, in words; null: empty.
   */
  readonly begun: ReadonlyMap<InstanceId, string | null>;
  /** Sandboxes that did something after the newest moment that the replica has of them. */
  readonly behind: readonly InstanceId[];
}

const iso = (ms: number) => new Date(ms).toISOString();

/** What the file of a sandbox comes from, in words. */
export function momentInWords({ moments, begun }: ReplicaReport, id: InstanceId): string {
  const at = moments.get(id);
  const began = begun.get(id);
  if (began !== undefined) return `replica, which has nothing of it yet: it is as it began, ${began ?? 'empty'}`;
  return at === undefined ? 'the replica' : `replica, as of ${iso(at)}`;
}

/** To which moment everything was restored, and what may be missing. */
export function restoredInWords({ url, registryMs, moments, behind, begun, notRestored }: ReplicaReport): string {
  const times = [...moments.values()];
  const files =
    times.length === 0
      ? 'no files'
      : `${times.length} files as of ${iso(Math.min(...times))} to ${iso(Math.max(...times))}`;
  const lost = [
    ...(begun.size === 0 ? [] : [`all of ${begun.size} sandboxes that had just begun`]),
    ...(behind.length === 0 ? [] : [`what ${behind.length} sandboxes wrote after their moment`]),
    ...(notRestored.length === 0 ? [] : [`${notRestored.length} sandboxes that were created later`]),
  ];
  const missing = lost.length === 0 ? 'what was done after it' : `what was done after it, ${lost.join(', ')}`;
  return `${url}, the registry as of ${iso(registryMs)}, ${files}; ${missing} is not in it`;
}
