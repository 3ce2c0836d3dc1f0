/**
 * Histograms of wake durations, one a day for each path and source. Knows nothing of how they are measured or of the
 * bounds of the buckets.
 */

import { wakeTimeStatements } from '../statements/wake-times.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

/** The wake times in the registry's file. */
export function openWakeTimes(database: RegistryDatabase, isNew: NoteWrite): SyncMethods<WakeTimeStore> {
  const { add, since, forget } = wakeTimeStatements(database);
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
