/** From when on there are moments of a sandbox, in the replica and by name, and the error of an earlier time. */
import { WinterdockError } from '../../base/errors.ts';
import { segmentName } from '../names/replica-names.ts';
import { replicaMissing } from '../no-replica.ts';
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

/** A moment that is kept by its name, whatever the replica has. */
interface KeptMoment {
  tag: string;
  /** Epoch milliseconds. */
  momentMs: number;
}

/**
 * The error for who asks for a moment up to `atMs` (epoch milliseconds; null: now) that is before all that have a name.
 * `ofReplica`: what the replica says to that; null: there is no replica. `named` in any order.
 */
export function beforeAllMoments(
  id: string,
  atMs: number | null,
  named: readonly KeptMoment[],
  ofReplica: WinterdockError | null,
): WinterdockError {
  const [first] = named.toSorted((one, other) => one.momentMs - other.momentMs);
  if (first === undefined) return ofReplica ?? replicaMissing();
  const { oldest } = ofReplica?.extra ?? {};
  if (ofReplica !== null && typeof oldest === 'number' && oldest * 1000 <= first.momentMs) return ofReplica;
  const upTo = atMs === null ? '' : ` up to ${new Date(atMs).toISOString()}`;
  const from = new Date(first.momentMs).toISOString();
  return new WinterdockError(
    'moment_gone',
    `There is no moment of "${id}"${upTo}: the oldest is “${first.tag}”, of ${from}.`,
    {
      extra: { oldest: first.momentMs / 1000 },
    },
  );
}

/** The error for who asks the replica for a moment up to `atMs` (epoch milliseconds; null: now), which has none. */
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
