/** Histograms of how long wakes took, one a day for each path and source. Knows nothing of what is measured or of the buckets' bounds. */
import type { Source } from '../../lifecycle/words.ts';
import type { WakeBucket, WakeTimes } from '../wake-times.ts';
import type { RegistryDatabase } from './database.ts';

const ADD = `INSERT INTO wake_times(day, path, source, bound_ms, n, sum_ms) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET n = n + excluded.n, sum_ms = sum_ms + excluded.sum_ms`;
const SINCE = 'SELECT day, path, source, bound_ms, n, sum_ms FROM wake_times WHERE day >= ?';

/** The wake times in the registry's file. */
export function openWakeTimes(database: RegistryDatabase): WakeTimes {
  return {
    add(buckets) {
      if (buckets.length === 0) return;
      database.write(() => {
        for (const { day, path, source, boundMs, count, sumMs } of buckets) {
          database.sql(ADD).run(day, path, source ?? '', boundMs ?? 0, count, sumMs);
        }
      });
    },
    since: (day) =>
      database
        .sql(SINCE)
        .all(day)
        .map(([of, path, source, boundMs, count, sumMs]) => ({
          day: of as number,
          path: path as WakeBucket['path'],
          source: source === '' ? null : (source as Source),
          boundMs: boundMs === 0 ? null : (boundMs as number),
          count: count as number,
          sumMs: sumMs as number,
        })),
    forget(before) {
      database.write(() => {
        database.sql('DELETE FROM wake_times WHERE day < ?').run(before);
      });
    },
  };
}
