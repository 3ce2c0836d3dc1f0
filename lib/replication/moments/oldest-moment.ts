/** From when on a replica has moments of a sandbox, and the error of an earlier time. */
import { WinterdockError } from '../../base/errors.ts';
import { segmentName } from '../names/replica-names.ts';
import { stateEnds } from '../segment-bundles/segments-in-bundles.ts';
import { listSeries, type ReplicaStore, readSegmentHead } from './replica-reader.ts';

/**
 * Epoch milliseconds of the oldest state that can be made; null: there is none. What lies in bundles is later. Throws
 * `corrupt`, `storage_unavailable`.
 */
async function oldestMomentMs(store: Pick<ReplicaStore, 'list' | 'open'>, id: string): Promise<number | null> {
  const allSeries = await listSeries(store, id);
  for (const { segments } of allSeries) {
    for (const end of stateEnds(segments)) {
      const { log, timeMs } = await readSegmentHead(store, segmentName(end));
      // A base beside a log is a state with the next segment alone.
      if (end.max > 1 || log === null) return timeMs;
    }
  }
  return null;
}

/** The error for who asks for a moment up to `atMs` (epoch milliseconds; null: now), of which there is none. */
export async function noMomentUpTo(
  store: Pick<ReplicaStore, 'list' | 'open'>,
  id: string,
  atMs: number | null,
): Promise<WinterdockError> {
  const oldestMs = await oldestMomentMs(store, id);
  const from = oldestMs === null ? 'nothing of it' : `its moments since ${new Date(oldestMs).toISOString()}`;
  const upTo = atMs === null ? '' : ` up to ${new Date(atMs).toISOString()}`;
  return new WinterdockError('moment_gone', `The replica has no moment of "${id}"${upTo}: it has ${from}.`, {
    extra: { oldest: oldestMs === null ? null : oldestMs / 1000 },
  });
}
