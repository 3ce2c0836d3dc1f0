/** Routes of schedules: when something of a sandbox runs by itself, and the history of its runs. */
import { z } from 'zod';
import {
  createScheduleSchema,
  patchScheduleSchema,
  scheduleRunSchema,
  scheduleSchema,
  schedulesQuerySchema,
} from '../../contract/schema.ts';
import { json } from '../answer.ts';
import { listAnswer, route } from '../operation-route.ts';
import type { Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Schedules';
const params = idParams.extend({ schedule: z.string().min(1).max(100) });
const one = { 200: { description: 'The schedule', schema: scheduleSchema } };

export const scheduleRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/schedules',
    operation: 'listSchedules',
    summary:
      'Lists the schedules of an instance, oldest first: those made here and those that its workbook declares. Those of an archived instance rest.',
    tag,
    params: idParams,
    query: schedulesQuerySchema,
    answers: { 200: listAnswer('A page of schedules', scheduleSchema) },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/schedules',
    operation: 'createSchedule',
    summary:
      'Schedules a command or a component: by `cron` (five fields, or six with the seconds first), or at `at`, which `repeat` repeats as org does. A firing wakes the instance, behind people’s requests. `missed` says what happens to times at which the server did not run: `skip` (also of a run that a killed server left: at most once), `once` or `all` (at least once; at most the last 50).',
    tag,
    params: idParams,
    body: createScheduleSchema,
    answers: {
      201: { description: 'The schedule', schema: scheduleSchema, headers: { Location: 'Its address' } },
    },
    answer: (schedule, { path }) => json(201, schedule, { location: `${path}/${schedule.id}` }),
  }),
  route({
    method: 'GET',
    path: '/instances/:id/schedules/:schedule',
    operation: 'getSchedule',
    summary: 'Shows a schedule, when it is next due and how it last went.',
    tag,
    params,
    answers: one,
  }),
  route({
    method: 'PATCH',
    path: '/instances/:id/schedules/:schedule',
    operation: 'patchSchedule',
    summary:
      'Changes or pauses a schedule. Times that pass while it is paused are not made up for. One that the workbook declares can only be paused.',
    tag,
    params,
    body: patchScheduleSchema,
    answers: one,
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/schedules/:schedule',
    operation: 'deleteSchedule',
    summary: 'Removes a schedule and its history. A run under way goes on.',
    tag,
    params,
    answers: { 204: { description: 'It is gone' } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/schedules/:schedule/run',
    operation: 'runSchedule',
    summary: 'Runs a schedule now, also a paused one, and answers when that has begun: its history says how it ends.',
    tag,
    params,
    answers: { 202: { description: 'It runs', schema: scheduleRunSchema } },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/schedules/:schedule/runs',
    operation: 'scheduleRuns',
    name: 'listScheduleRuns',
    summary: 'Lists the last 100 runs of a schedule, newest first.',
    tag,
    params,
    query: schedulesQuerySchema,
    answers: { 200: listAnswer('A page of runs', scheduleRunSchema) },
  }),
];
