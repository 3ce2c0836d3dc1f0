/** Which backups are kept: the newest of each of the last hours, days, weeks and months that have one. Pure. */
import { isTimeZone, wallTimeOf } from '../base/zoned-time.ts';

/** How many of each: 0 keeps none for that reason. */
export interface Retention {
  hourly: number;
  daily: number;
  weekly: number;
  monthly: number;
}

const SPANS = ['hourly', 'daily', 'weekly', 'monthly'] as const satisfies readonly (keyof Retention)[];

const WEEK_SECONDS = 7 * 86_400;
/** A Monday. */
const MONDAY = Date.UTC(1970, 0, 5) / 1000;

/** The span that a time lies in, as a text that two times have in common exactly when they are in the same one. */
function spanOf(epoch: number, span: keyof Retention, zone: string): string {
  const { year, month, day, hour } = wallTimeOf(epoch, zone);
  if (span === 'monthly') return `${year}-${month}`;
  if (span === 'daily') return `${year}-${month}-${day}`;
  // An hour of the clock that comes twice is two.
  if (span === 'hourly') return `${year}-${month}-${day} ${hour} ${Math.floor(epoch / 3600)}`;
  return String(Math.floor((Date.UTC(year, month - 1, day) / 1000 - MONDAY) / WEEK_SECONDS));
}

/**
 * Those of the backups that are kept, by their ids: of the last `retention` hours (days, …) that have one, the newest
 * of each, and the newest of all. `begunMs` in epoch milliseconds; hours and days are those of `zone`.
 */
export function retained(
  backups: readonly { id: string; begunMs: number }[],
  retention: Retention,
  zone: string,
): Set<string> {
  const inZone = isTimeZone(zone) ? zone : 'UTC';
  const newestFirst = backups.toSorted((one, other) => other.begunMs - one.begunMs || (one.id < other.id ? 1 : -1));
  const kept = new Set<string>(newestFirst.slice(0, 1).map(({ id }) => id));
  for (const span of SPANS) {
    const seen = new Set<string>();
    for (const { id, begunMs } of newestFirst) {
      const at = spanOf(Math.floor(begunMs / 1000), span, inZone);
      if (seen.has(at)) continue;
      if (seen.size >= retention[span]) break;
      seen.add(at);
      kept.add(id);
    }
  }
  return kept;
}
