/** Contract schemas of schedules: when a command or a component of a sandbox runs by itself. Safe for the browser. */

import { z } from 'zod';
import { THERMALS } from '../../lifecycle/words.ts';
import { actorNameSchema } from './actors.ts';
import { MOST_CALL_MS } from './calls.ts';
import { slugSchema } from './ids.ts';

const epoch = z.int().min(0).max(253_402_300_799);

const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

const MISSED = ['skip', 'once', 'all'] as const;

export const scheduleSchema = z
  .object({
    id: z.string(),
    instance: slugSchema,
    cron: z.string().nullable(),
    at: epoch.nullable(),
    repeat: z.string().nullable(),
    timezone: z.string(),
    /** Null as well for a caller who may not read what the sandbox holds; so is the input. */
    command: z.string().nullable(),
    /** The path of a component, or of a world whose whole workflow runs. */
    component: z.string().nullable(),
    input: z.record(z.string(), z.unknown()).optional(),
    /** Of one run; null: what the policy of its sandbox allows. */
    timeout_ms: z.int().nullable(),
    missed: z.enum(MISSED),
    paused: z.boolean(),
    /** `workbook`: its source declares it. */
    source: z.enum(['api', 'workbook']),
    /** Null while it is paused or rests, and when there is no next time. */
    next_at: epoch.nullable(),
    last_at: epoch.nullable(),
    last_result: z.enum(['done', 'failed', 'skipped', 'lost']).nullable(),
    last_took_ms: z.number().nullable(),
    failures: z.int().min(0),
    fault: z.string().nullable(),
    /** Its sandbox is archived: it does not fire. */
    resting: z.boolean(),
    created_at: epoch,
  })
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof scheduleSchema>;

const timing = {
  cron: z.string().min(1).max(200).optional(),
  timezone: z.string().min(1).max(100).optional(),
  command: z
    .string()
    .min(1)
    .max(1024 * 1024)
    .optional(),
  component: z.string().min(1).max(1100).optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  /** Of one run. The default is the policy's; more than a call may ask for is refused. */
  timeout_ms: z.int().min(1).max(MOST_CALL_MS).nullable().optional(),
  missed: z.enum(MISSED).optional(),
};

/** `at`: fires once, or again and again with `repeat`. Instead of `cron`. */
export const createScheduleSchema = z.strictObject({
  ...timing,
  at: epoch.optional(),
  repeat: z.string().max(20).optional(),
  paused: z.boolean().optional(),
});
export type CreateScheduleInput = z.infer<typeof createScheduleSchema>;

export const patchScheduleSchema = z.strictObject({ ...timing, paused: z.boolean().optional() });
export type PatchScheduleInput = z.infer<typeof patchScheduleSchema>;

export const schedulesQuerySchema = z.strictObject({ limit, cursor });
export type SchedulesQuery = z.infer<typeof schedulesQuerySchema>;

export const scheduleRunSchema = z
  .object({
    id: z.string(),
    schedule: z.string(),
    /** The time that it was due at; null when somebody asked for it. */
    planned_at: epoch.nullable(),
    /** It was due while the server did not run. */
    missed: z.boolean(),
    started_ms: z.int(),
    took_ms: z.number().nullable(),
    /** Null while it runs. */
    result: z.enum(['done', 'failed', 'skipped', 'lost']).nullable(),
    error: z.string().nullable(),
    exit_code: z.int().nullable(),
    woke: z.enum(THERMALS).nullable(),
    actor: z.string(),
    actor_name: actorNameSchema,
  })
  .meta({ id: 'ScheduleRun' });
export type ScheduleRun = z.infer<typeof scheduleRunSchema>;
