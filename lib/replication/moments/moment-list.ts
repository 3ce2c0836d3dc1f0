/**
 * Lists the moments that a replica has of a sandbox, those around a time: each state that can be made, how coarse they
 * are there, and which of them are filings. Makes no file.
 */

import { minuteOf } from '../names/bundle-names.ts';
import { SPAN_MINUTES } from '../names/level-groups.ts';
import { BASE_LEVEL, begunMs, seriesName } from '../names/replica-names.ts';
import { isObjectLost } from '../segment-bundles/bundle-format.ts';
import { manyAtOnce, type TenantBundles } from '../segment-bundles/bundle-reader.ts';
import {
  type FoundSegment,
  type FoundSeries,
  lastUpTo,
  segmentsInBundles,
  stateEnds,
} from '../segment-bundles/segments-in-bundles.ts';
import { listSeries, type ReplicaStore, timesIn } from './replica-reader.ts';
import { lookAtSegment } from './segment-look.ts';

export interface ListedMoment {
  /** Epoch milliseconds: when it was committed, at the latest. */
  timeMs: number;
  /** `filing`: the file was at rest. */
  kind: 'commit' | 'filing';
  /** It is the last moment of so many seconds at most: what lies between it and the one before may be gone. */
  grainS: number;
}

/** Seconds that a segment of a level is of, at most; what stays of a whole series is of a day. */
const GRAIN_S: Readonly<Record<number, number>> = { 0: 1, 1: 60, 2: 3600 };
const SERIES_GRAIN_S = 86_400;
/** Where there are bundles, one of level 1 that lies by itself may be of a span of minutes. */
const SPAN_GRAIN_S = 60 * SPAN_MINUTES;
/** Commits that lie in bundles are listed of so many minutes before and after the time, and minutes of a span. */
const MINUTES_AROUND = 1;

/** What ends a state that can be made. */
interface GrainedEnd {
  end: FoundSegment;
  grainS: number;
}

const endOf = ({ end }: GrainedEnd) => end;

/**
 * At most `limit` moments of a sandbox, those next to `aroundMs` (epoch milliseconds; null: now), half of them before
 * it where there are as many after it; the newest first. Empty when there is none up to then. Where commits lie in
 * bundles, those of the minutes around the time are listed, the last of each minute of ten around it, and elsewhere
 * what lies by itself: the last of each minute, or of each span. What is damaged, or was removed meanwhile, is left
 * out. Throws `corrupt` when the time of something that is damaged has to be known, `storage_unavailable`.
 */
export async function listMoments(
  store: ReplicaStore,
  id: string,
  bundles: TenantBundles | null,
  { aroundMs, limit }: { aroundMs: number | null; limit: number },
): Promise<ListedMoment[]> {
  const allSeries = await listSeries(store, id);
  const timeOf = timesIn(store);
  const endsIn = (series: FoundSeries) => endsOfSeries(bundles, { ...series, id }, aroundMs, timeOf);

  /** From the time back, and from it on. */
  const before: GrainedEnd[] = [];
  const after: GrainedEnd[] = [];
  let first = allSeries.length;
  for (let at = allSeries.length - 1; at >= 0 && before.length < limit; at -= 1) {
    const series = allSeries[at];
    // No state of a series is older than that.
    if (series === undefined || (aroundMs !== null && begunMs(series.series) > aroundMs)) continue;
    const ends = await endsIn(series);
    const isFirst = before.length === 0;
    const last = isFirst && aroundMs !== null ? await lastUpTo(ends.map(endOf), aroundMs, timeOf) : ends.length - 1;
    before.push(...ends.slice(Math.max(0, last + 1 - limit + before.length), last + 1).reverse());
    if (!isFirst || before.length === 0) continue;
    after.push(...ends.slice(last + 1, last + 1 + limit));
    first = at;
  }
  if (before.length === 0) return [];
  for (const later of allSeries.slice(first + 1)) {
    if (after.length >= limit) break;
    after.push(...(await endsIn(later)).slice(0, limit - after.length));
  }
  const ofAfter = Math.min(after.length, Math.max(Math.floor(limit / 2), limit - before.length));
  const wanted = [...after.slice(0, ofAfter).reverse(), ...before].slice(0, limit);
  const moments = await manyAtOnce(wanted, (end) => momentAt(store, end));
  return moments.filter((moment) => moment !== null);
}

/** Null where it is damaged, gone, or no state by itself. */
async function momentAt(store: ReplicaStore, { end, grainS }: GrainedEnd): Promise<ListedMoment | null> {
  try {
    const { header, isResting } = await lookAtSegment(store, end);
    // A base beside a log is a state with the next segment alone.
    if (end.max === 1 && header.log !== null) return null;
    return { timeMs: header.timeMs, kind: isResting ? 'filing' : 'commit', grainS };
  } catch (error) {
    if (!isObjectLost(error)) throw error;
    return null;
  }
}

/** The ends of the states of one series, in order. */
async function endsOfSeries(
  bundles: TenantBundles | null,
  series: FoundSeries & { id: string },
  aroundMs: number | null,
  timeOf: (place: FoundSegment) => Promise<number>,
): Promise<GrainedEnd[]> {
  const segments: FoundSegment[] = [...series.segments];
  if (bundles !== null) {
    // What a restore of then would look at is in the list, whatever else is.
    segments.push(...(await segmentsInBundles(bundles, series, aroundMs, timeOf)).segments);
    if (aroundMs !== null) {
      const minute = minuteOf(aroundMs);
      const name = seriesName(series.series);
      for (const [level, around] of [[0, MINUTES_AROUND] as const, [1, SPAN_MINUTES] as const]) {
        const near = await bundles.inMinutes(level, minute - around, minute + around);
        segments.push(...near.segments.filter((one) => one.id === series.id && seriesName(one.series) === name));
      }
    }
  }
  const grains = new Map<number, number>();
  for (const segment of segments) {
    const isSpan = bundles !== null && segment.level === 1 && segment.bundled === undefined;
    const grain = isSpan ? SPAN_GRAIN_S : grainOf(segment);
    grains.set(segment.max, Math.min(grain, grains.get(segment.max) ?? grain));
  }
  return stateEnds(segments).map((end) => ({ end, grainS: grains.get(end.max) ?? SERIES_GRAIN_S }));
}

function grainOf({ level, max }: FoundSegment): number {
  // A base that nothing was merged into is of one moment.
  return level === BASE_LEVEL && max === 1 ? 1 : (GRAIN_S[level] ?? SERIES_GRAIN_S);
}
