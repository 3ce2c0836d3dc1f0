'use server';
/** Server actions of the Schedules tab: add one, tell its next times, pause it, run it now, delete it. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { cronOf } from '#components/workbook/rhythm.ts';
import { SCHEDULE_FIELDS, type ScheduleField, type ScheduleState } from '#components/workbook/schedule-fields.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { createScheduleSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { nextTime, requireTiming } from '#lib/schedules/timing.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { boundInstanceId, expectTexts, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { tabAddress } from './tab-names.ts';

const TIMES_SHOWN = 5;

/** The field that a complaint of the API is about. */
function fieldNamed(name: unknown): ScheduleField | null {
  if (name === 'component') return 'what';
  return SCHEDULE_FIELDS.find((field) => field === name) ?? null;
}

function inputOf(text: string): { input?: unknown; error?: string } {
  if (text === '') return {};
  try {
    return { input: JSON.parse(text) };
  } catch {
    return { error: 'It is not JSON.' };
  }
}

type Values = ScheduleState['values'];

function valuesOf(form: FormData): Values {
  return Object.fromEntries(SCHEDULE_FIELDS.map((field) => [field, textField(form, field)]));
}

/** The form as it was sent, with what is wrong. */
function refused(values: Values, errors: ScheduleState['errors']): ScheduleState {
  return { values, errors, outcome: null, next: null };
}

/** A problem of the API at the field that it is about, else below the form. */
function failed(values: Values, failure: unknown, caller: Caller): ScheduleState {
  const problem = problemOf(failure, caller);
  const [wrong] = problem.errors ?? [];
  const field = fieldNamed(wrong?.path);
  if (wrong !== undefined && field !== null) return refused(values, { [field]: wrong.message });
  return { ...refused(values, {}), outcome: { ok: false, ...problemInWords(problem) } };
}

/** Tells the next times that the form describes. It adds nothing. */
export async function lookAtSchedule(bound: string, _previous: ScheduleState, form: FormData): Promise<ScheduleState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(tabAddress(id, 'schedules'));
  const values = valuesOf(form);
  const rhythm = cronOf(values);
  if ('error' in rhythm) return refused(values, { [rhythm.field]: rhythm.error });
  const timing = { cron: rhythm.cron, at: null, repeat: null, timezone: values.timezone || 'UTC' };
  try {
    requireTiming(timing);
    const next: number[] = [];
    for (let at = nextTime(timing, renderedAt()); at !== null; at = nextTime(timing, at)) {
      next.push(at);
      if (next.length === TIMES_SHOWN) break;
    }
    return { values, errors: {}, outcome: null, next };
  } catch (failure) {
    return failed(values, failure, caller);
  }
}

export async function addSchedule(bound: string, _previous: ScheduleState, form: FormData): Promise<ScheduleState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(tabAddress(id, 'schedules'));
  const values = valuesOf(form);
  const { input, error } = inputOf(values.input ?? '');
  if (error !== undefined) return refused(values, { input: error });
  const isComponent = (values.what ?? '') !== '';
  if (!isComponent && values.command === '') {
    return refused(values, { command: 'Give a command, or choose a component.' });
  }
  if (isComponent && (values.command ?? '') !== '') {
    return refused(values, {
      command: `“${values.what}” is chosen to run. Choose “the command below” there, or empty this.`,
    });
  }
  const rhythm = cronOf(values);
  if ('error' in rhythm) return refused(values, { [rhythm.field]: rhythm.error });
  const parsed = createScheduleSchema.safeParse({
    cron: rhythm.cron,
    timezone: values.timezone || undefined,
    missed: values.missed || undefined,
    ...(isComponent ? { component: values.what, input } : { command: values.command }),
  });
  if (!parsed.success) {
    const errors: ScheduleState['errors'] = {};
    for (const issue of parsed.error.issues) {
      const field = fieldNamed(issue.path[0]);
      if (field !== null) errors[field] ??= issue.message;
    }
    return refused(values, errors);
  }
  try {
    await getHost().operations.createSchedule(caller, id, parsed.data);
    refresh();
    return { values: {}, errors: {}, outcome: { ok: true, says: 'It is added.' }, next: null };
  } catch (failure) {
    return failed(values, failure, caller);
  }
}

async function actOn(caller: Caller, id: InstanceId, schedule: string, act: string): Promise<string | null> {
  const { operations } = getHost();
  switch (act) {
    case 'run':
      await operations.runSchedule(caller, id, schedule);
      return 'It runs. How that goes is in its history.';
    case 'pause':
      await operations.patchSchedule(caller, id, schedule, { paused: true });
      return 'It is paused.';
    case 'go-on':
      await operations.patchSchedule(caller, id, schedule, { paused: false });
      return 'It goes on.';
    case 'delete':
      await operations.deleteSchedule(caller, id, schedule);
      return 'It is deleted.';
    default:
      return null;
  }
}

/** Does what the pressed button says. */
export async function changeSchedule(
  bound: string,
  schedule: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  expectTexts(schedule);
  const caller = await requireCaller(tabAddress(id, 'schedules'));
  try {
    const says = await actOn(caller, id, schedule, textField(form, 'act'));
    refresh();
    return says === null ? null : { ok: true, says };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
