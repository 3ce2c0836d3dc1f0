/** Durations of wakes. */
import type { Source } from '../../lib/lifecycle/words.ts';
import { integer, primaryKey, real, sqliteTable, text } from '../drizzle.ts';

/** Durations of wakes: a histogram for each day (days since the epoch), path and source. */
export const wakeTimes = sqliteTable(
  'wake_times',
  {
    day: integer('day').notNull(),
    path: text('path').$type<'warm' | 'cold'>().notNull(),
    /** Empty for a warm wake. */
    source: text('source').$type<Source | ''>().notNull(),
    /** Upper bound of the bucket in milliseconds; 0 for values above every bound. */
    boundMs: real('bound_ms').notNull(),
    n: integer('n').notNull(),
    sumMs: real('sum_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.path, table.source, table.boundMs] })],
);
