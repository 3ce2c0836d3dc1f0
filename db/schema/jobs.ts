/** Jobs, their selected instances, and their results. */
import type { JobKind } from '../../lib/lifecycle/job-verbs.ts';
import type { Via } from '../../lib/lifecycle/words.ts';
import type { JobOutcome, JobState } from '../../lib/registry/jobs.ts';
import { jsonColumn } from '../columns.ts';
import { blob, index, integer, primaryKey, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** `false` as SQLite stores it: of drizzle's own the migration would make the table anew. */
const FALSE = 0 as unknown as boolean;

/** A verb for many instances. They were selected when the job was made and are in `job_pages`. */
export const jobs = sqliteTable(
  'jobs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    verb: text('verb').$type<JobKind>().notNull(),
    reason: text('reason'),
    /** Key to value, or to null to remove it. */
    labels: jsonColumn<Record<string, string | null>>('labels'),
    /** The original request. */
    request: jsonColumn<unknown>('asked').notNull(),
    /** Whether it also files what is kept hot or held. */
    includeHeld: integer('include_held', { mode: 'boolean' }).notNull().default(FALSE),
    /** The tenants that it may affect; null: all. */
    tenants: jsonColumn<string[]>('tenants'),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    address: text('address'),
    state: text('state').$type<JobState>().notNull(),
    created: integer('created').notNull(),
    finished: integer('finished'),
    /** The number of selected instances, and of their results so far. */
    chosen: integer('chosen').notNull(),
    done: integer('done').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    skipped: integer('skipped').notNull().default(0),
  },
  (table) => [
    uniqueIndex('jobs_by_id').on(table.id),
    index('jobs_running').on(table.seq).where(sql`state = 'running'`),
  ],
);

/**
 * The instances of a job in their order, a thousand to a page: rowids of `instances`, four little-endian bytes each; 0
 * for an unknown id.
 */
export const jobPages = sqliteTable(
  'job_pages',
  {
    job: integer('job').notNull(),
    page: integer('page').notNull(),
    rows: blob('rows', { mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.job, table.page] })],
);

/** The result of each instance of a job, by its position in the job. */
export const jobResults = sqliteTable(
  'job_results',
  {
    job: integer('job').notNull(),
    position: integer('position').notNull(),
    outcome: text('outcome').$type<JobOutcome>().notNull(),
    reason: text('reason'),
    timeMs: integer('time_ms').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.job, table.position] }),
    index('job_results_by_outcome').on(table.job, table.outcome, table.position).where(sql`outcome <> 'done'`),
  ],
);
