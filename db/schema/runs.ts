/** Runs: commands that outlive the request that began them. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { RunEnding, RunLanguage } from '../../lib/registry/runs.ts';
import { index, integer, real, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** The runs under way, and the last ones of each instance. A trigger removes those of a deleted instance. */
export const runs = sqliteTable(
  'runs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    instance: text('instance').$type<InstanceId>().notNull(),
    tenant: text('tenant').notNull(),
    language: text('language').$type<RunLanguage>().notNull(),
    /** The beginning of what runs. */
    command: text('command').notNull(),
    cwd: text('cwd').notNull(),
    /** The terminal that it was typed into. */
    terminal: text('terminal'),
    createdMs: integer('created_ms').notNull(),
    /** When its turn came; null when it never did, and while it is under way. */
    startedMs: integer('started_ms'),
    /** Null while it is under way. */
    endedMs: integer('ended_ms'),
    ending: text('ending').$type<RunEnding>(),
    exitCode: integer('exit_code'),
    tookMs: real('took_ms'),
    timedOut: integer('timed_out', { mode: 'boolean' }).notNull().default(false),
    /** Why it was stopped or failed: a sentence, never what the sandbox printed. */
    reason: text('reason'),
    woke: text('woke').$type<'hot' | 'warm' | 'cold'>(),
    outputBytes: integer('output_bytes').notNull().default(0),
    actor: text('actor').notNull(),
    /** The host that carries it out, and its claim; null for one of an earlier version. */
    ownerHost: text('owner_host'),
    ownerToken: text('owner_token'),
  },
  (table) => [
    uniqueIndex('runs_by_id').on(table.id),
    index('runs_by_instance').on(table.instance, table.seq),
    index('runs_under_way').on(table.instance).where(sql`ended_ms is null`),
    index('runs_under_way_of_tenant').on(table.tenant).where(sql`ended_ms is null`),
  ],
);
