/** What sandboxes take, for who follows it. */
import type { InstanceId } from '../base/ids.ts';

/** What was measured of a sandbox, as it is measured. */
export interface MeasuredUse {
  id: InstanceId;
  tenant: string;
  cpuSeconds: number;
  calls: number;
  memoryBytes: number;
}

export interface LoadFeed {
  /** The sandboxes that have a process, with its memory when it was last measured. Counts their calls first. */
  serving(): { id: InstanceId; tenant: string; memoryBytes: number }[];
  /** Tells `watcher` of each use when it is measured. Returns the unsubscriber. */
  onUse(watcher: (use: MeasuredUse) => void): () => void;
  /** Bytes of the file of a sandbox that has a process; null without a file. */
  diskBytes(id: InstanceId): number | null;
}
