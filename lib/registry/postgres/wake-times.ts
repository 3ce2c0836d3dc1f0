/**
 * Histograms of wake durations, one a day for each path and source. Knows nothing of how they are measured or of the
 * bounds of the buckets.
 */

import { wakeTimeStatements } from '../statements/wake-times.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import type { PostgresDatabase } from './database.ts';
import type { NoteWrite } from './write-ids.ts';

/** The wake times in the registry's file. */
export function openWakeTimes(database: PostgresDatabase, isNew: NoteWrite): WakeTimeStore {
  const { add, since, forget } = database.with(wakeTimeStatements);
  return {
    async add(buckets, writeId) {
      if (buckets.length === 0) return;
      await database.write(async () => {
        if (!(await isNew(writeId))) return;
        for (const { source, boundMs, count, ...bucket } of buckets) {
          await add().run({ ...bucket, source: source ?? '', boundMs: boundMs ?? 0, n: count });
        }
      });
    },
    since: async (day) =>
      (await since().all({ day })).map(({ source, boundMs, ...bucket }) => ({
        ...bucket,
        source: source === '' ? null : source,
        boundMs: boundMs === 0 ? null : boundMs,
      })),
    async deleteBefore(before) {
      await database.write(async () => {
        await forget().run({ before });
      });
    },
  };
}
