/**
 * Histograms of how long wakes took, one a day for each path and source. Knows nothing of what is measured or of the
 * buckets' bounds.
 */
import { getTableColumns, gte, lt, placeholder } from '../../../db/drizzle.ts';
import { wakeTimes } from '../../../db/schema.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import type { RegistryDatabase } from './database.ts';
import { boundAll } from './placeholders.ts';
import type { Synchronous } from './promised.ts';
import { plus } from './raw.ts';

/** The wake times in the registry's file. */
export function openWakeTimes(database: RegistryDatabase): Synchronous<WakeTimeStore> {
  const { day, path, source, boundMs, n, sumMs } = getTableColumns(wakeTimes);
  const columns = { day, path, source, boundMs, count: n, sumMs };
  const add = database.statement((queries) =>
    queries
      .insert(wakeTimes)
      .values(boundAll(getTableColumns(wakeTimes)))
      .onConflictDoUpdate({
        target: [day, path, source, boundMs],
        set: { n: plus(n, 'n'), sumMs: plus(sumMs, 'sumMs') },
      })
      .prepare(),
  );
  const since = database.statement((queries) =>
    queries
      .select(columns)
      .from(wakeTimes)
      .where(gte(day, placeholder('day')))
      .prepare(),
  );
  const forget = database.statement((queries) =>
    queries
      .delete(wakeTimes)
      .where(lt(day, placeholder('before')))
      .prepare(),
  );
  return {
    add(buckets) {
      if (buckets.length === 0) return;
      database.write(() => {
        for (const { source, boundMs, count, ...bucket } of buckets) {
          add().run({ ...bucket, source: source ?? '', boundMs: boundMs ?? 0, n: count });
        }
      });
    },
    since: (day) =>
      since()
        .all({ day })
        .map(({ source, boundMs, ...bucket }) => ({
          ...bucket,
          source: source === '' ? null : source,
          boundMs: boundMs === 0 ? null : boundMs,
        })),
    deleteBefore(before) {
      database.write(() => {
        forget().run({ before });
      });
    },
  };
}
