/** Schedules of instances, and the history of their runs. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { MissedPolicy, RunResult, ScheduleSource, ScheduleTarget } from '../../lib/registry/schedules.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, real, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** Triggers remove the schedules of a deleted instance, and let those of an archived one rest. */
export const schedules = sqliteTable(
  'schedules',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    instance: text('instance').$type<InstanceId>().notNull(),
    tenant: text('tenant').notNull(),
    source: text('source').$type<ScheduleSource>().notNull(),
    /** Which declaration of the workbook it is; null for one made by the API. */
    declaration: text('declaration'),
    cron: text('cron'),
    at: integer('at'),
    repeat: text('repeat'),
    timezone: text('timezone').notNull(),
    target: text('target').$type<ScheduleTarget>().notNull(),
    /** The command, or the path of the component or world. */
    action: text('action').notNull(),
    input: jsonColumn<Record<string, unknown>>('input'),
    /** Milliseconds of one run; null: what its policy allows. */
    timeoutMs: integer('timeout_ms'),
    missed: text('missed').$type<MissedPolicy>().notNull(),
    paused: integer('paused', { mode: 'boolean' }).notNull(),
    /** Its instance is archived. */
    resting: integer('resting', { mode: 'boolean' }).notNull().default(false),
    /** The time that it is next due at; null when there is none. */
    nextAt: integer('next_at'),
    /** When it is taken up: `nextAt`, or later by its spread or back-off; 0: to be armed anew. Null while it runs. */
    fireAt: integer('fire_at'),
    /** Missed times up to this one are made up for one by one. */
    backlogUntil: integer('backlog_until'),
    /** The id of the run under way. */
    run: text('run'),
    lastAt: integer('last_at'),
    lastResult: text('last_result').$type<RunResult>(),
    lastTookMs: real('last_took_ms'),
    /** Consecutive failures. */
    failures: integer('failures').notNull().default(0),
    fault: text('fault'),
    /** Increases with every change: compare-and-set. */
    revision: integer('revision').notNull().default(0),
    created: integer('created').notNull(),
    actor: text('actor').notNull(),
  },
  (table) => [
    uniqueIndex('schedules_by_id').on(table.id),
    uniqueIndex('schedules_by_instance').on(table.instance, table.seq),
    uniqueIndex('schedules_by_declaration').on(table.instance, table.declaration).where(sql`declaration is not null`),
    index('schedules_by_tenant').on(table.tenant),
    index('schedules_to_fire').on(table.fireAt).where(sql`fire_at is not null`),
    index('schedules_next').on(table.nextAt).where(sql`fire_at is not null`),
    index('schedules_running').on(table.run).where(sql`run is not null`),
    index('schedules_failing').on(table.failures).where(sql`failures > 0`),
    index('schedules_resting').on(table.resting).where(sql`resting = 1`),
  ],
);

/** The last runs of each schedule. They go with it. */
export const scheduleRuns = sqliteTable(
  'schedule_runs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    schedule: text('schedule').notNull(),
    /** The time that it was due at; null when somebody asked for it. */
    planned: integer('planned'),
    /** It was due while the server did not run. */
    missed: integer('missed', { mode: 'boolean' }).notNull(),
    startedMs: integer('started_ms').notNull(),
    tookMs: real('took_ms'),
    /** Null while it runs. */
    result: text('result').$type<RunResult>(),
    error: text('error'),
    exitCode: integer('exit_code'),
    woke: text('woke').$type<'hot' | 'warm' | 'cold'>(),
    actor: text('actor').notNull(),
    /** The host that carries it out, and its claim; null for one of an earlier version. */
    ownerHost: text('owner_host'),
    ownerToken: text('owner_token'),
  },
  (table) => [uniqueIndex('schedule_runs_by_id').on(table.id), index('schedule_runs_of').on(table.schedule, table.seq)],
);

/**
 * Instances whose workbook or its version has changed since their schedules were last brought in line with it. Triggers
 * add them, in the transaction of the change.
 */
export const scheduleSyncs = sqliteTable('schedule_syncs', {
  instance: text('instance').$type<InstanceId>().primaryKey().notNull(),
});
