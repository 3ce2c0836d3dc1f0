/**
 * What a replica costs: to those who write and suspend, to a server on which nothing happens, and when a file is made
 * from it; in a folder, and in a store that is far away.
 */
import { type HotSizes, measureHotReplica } from './replica-hot.ts';
import { type IdleSizes, measureIdleReplica } from './replica-idle.ts';
import { openPlaces } from './replica-places.ts';
import { measureReplicaRestore } from './replica-restore.ts';
import type { PartResult } from './result.ts';

export interface ReplicaSizes {
  hot: HotSizes;
  idle: IdleSizes;
  restore: { mebibytes: number; rounds: number };
}

export async function measureReplica({ hot, idle, restore }: ReplicaSizes): Promise<PartResult> {
  const places = await openPlaces();
  try {
    const parts = [
      await measureHotReplica(places, hot),
      await measureReplicaRestore(places, restore.mebibytes, restore.rounds),
      await measureIdleReplica(places, idle),
    ];
    return {
      series: parts.flatMap(({ series }) => series),
      figures: parts.flatMap(({ figures }) => figures),
    };
  } finally {
    await places.stop();
  }
}
