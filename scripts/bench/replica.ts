/**
 * What a replica costs: to those who write and suspend, to a server on which nothing happens, and when a file is made
 * from it; in a folder, and in a store that is far away.
 */
import { type HotSizes, measureHotReplica } from './replica-hot.ts';
import { type IdleSizes, measureIdleReplica } from './replica-idle.ts';
import { openPlaces, type Places } from './replica-places.ts';
import { measureReplicaRestore } from './replica-restore.ts';
import type { PartResult } from './result.ts';

/** Those who write and suspend, and a restore. */
export async function measureReplica(hot: HotSizes, restore: { mebibytes: number; rounds: number }) {
  return atPlaces((places) => [
    () => measureHotReplica(places, hot),
    () => measureReplicaRestore(places, restore.mebibytes, restore.rounds),
  ]);
}

/** Many sandboxes of which nobody wants anything. */
export async function measureReplicaAtRest(idle: IdleSizes): Promise<PartResult> {
  return atPlaces((places) => [() => measureIdleReplica(places, idle)]);
}

async function atPlaces(works: (places: Places) => (() => Promise<PartResult>)[]): Promise<PartResult> {
  const places = await openPlaces();
  try {
    const result: PartResult = { series: [], figures: [] };
    for (const work of works(places)) {
      const { series, figures } = await work();
      result.series.push(...series);
      result.figures.push(...figures);
    }
    return result;
  } finally {
    await places.stop();
  }
}
