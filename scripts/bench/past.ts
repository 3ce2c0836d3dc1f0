/** What it takes to look at the past: the first folder of a large sandbox, two states compared, and many readers. */
import { measurePastComparison } from './past-comparison.ts';
import { measurePastLooks } from './past-looks.ts';
import { measurePastReaders } from './past-readers.ts';
import { openPlaces } from './replica-places.ts';
import type { PartResult } from './result.ts';

export interface PastSizes {
  /** Of the sandbox whose first folder is listed, and how many moments of it are looked at. */
  looks: { mebibytes: number; rounds: number };
  /** Files of the sandbox that is compared with what it was. */
  comparison: { files: number; rounds: number };
  /** Who reads at the same time, each another moment. */
  readers: { few: number; many: number; rounds: number };
}

export async function measurePast({ looks, comparison, readers }: PastSizes): Promise<PartResult> {
  const places = await openPlaces();
  try {
    const results = [
      await measurePastLooks(places, looks),
      await measurePastComparison(places, comparison),
      await measurePastReaders(places, readers),
    ];
    return {
      series: results.flatMap(({ series }) => series),
      figures: results.flatMap(({ figures }) => figures),
    };
  } finally {
    await places.stop();
  }
}
