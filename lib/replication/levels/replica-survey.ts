/** What a replica has, by its names alone. */
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { parseSegmentName } from '../names/replica-names.ts';

export interface ReplicaSurvey {
  /** Ids that it has something of, in order; that of the registry too. */
  ids: string[];
  /** The largest term of a series; 0 without any. */
  lastTerm: number;
}

/** Lists every segment. A list may lack some. */
export async function surveyReplica(store: Pick<ObjectStore, 'list'>): Promise<ReplicaSurvey> {
  const ids = new Set<string>();
  let lastTerm = 0;
  for await (const page of store.list('replica/')) {
    for (const { name } of page) {
      const place = parseSegmentName(name);
      if (place === null) continue;
      ids.add(place.id);
      lastTerm = Math.max(lastTerm, place.series.term);
    }
  }
  return { ids: [...ids].sort(), lastTerm };
}
