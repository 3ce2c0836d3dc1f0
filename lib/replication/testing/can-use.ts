/** Whether a store answers, as `SegmentUploads` asks, for stores that nobody watches. */
import type { ObjectStore } from '../../storage/object-store/object-store.ts';

export async function canUse(store: Pick<ObjectStore, 'head'>): Promise<boolean> {
  await store.head('winterdock.json');
  return true;
}
