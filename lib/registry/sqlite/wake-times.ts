/**
 * Histograms of wake durations, one a day for each path and source. Knows nothing of how they are measured or of the
 * bounds of the buckets.
 */
import { getTableColumns, gte, lt, placeholder } from '../../../db/drizzle.ts';
import { wakeTimes } from '../../../db/schema.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { plusBound } from './raw.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

/** The wake times in the registry's file. */
export function openWakeTimes(database: RegistryDatabase, isNew: NoteWrite): SyncMethods<WakeTimeStore> {
  const { day, path, source, boundMs, n, sumMs } = getTableColumns(wakeTimes);
  const columns = { day, path, source, boundMs, count: n, sumMs };
  const add = database.statement((queries) =>
    queries
      .insert(wakeTimes)
      .values(boundColumns(getTableColumns(wakeTimes)))
      .onConflictDoUpdate({
        target: [day, path, source, boundMs],
        set: { n: plusBound(n, 'n'), sumMs: plusBound(sumMs, 'sumMs') },
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
    add(buckets, writeId) {
      if (buckets.length === 0) return;
      database.write(() => {
        if (!isNew(writeId)) return;
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
