/** Jobs, their results and what a choice finds, as values of the registry's tables. They were written here, so their words are trusted. */
import type { State } from '../../lifecycle/states.ts';
import type { JobKind } from '../../lifecycle/wish.ts';
import type { Fault, Via } from '../../lifecycle/words.ts';
import type { JobOutcome, JobResult, JobRow, JobState, NewJob, Surveyed } from '../jobs.ts';
import type { Value } from './database.ts';

/** The columns of a job; those of a new one are the first ten. */
export const JOB_COLUMNS = `id, verb, reason, labels, asked, tenants, actor, via, address, created, state, finished, chosen, done, failed, skipped`;

/** Row number, id, state, fault, whether it lives in memory only, whether it is ephemeral. */
export function surveyedOf(values: Value[]): Surveyed {
  return {
    row: values[0] as number,
    id: values[1] as string,
    state: values[2] as State,
    fault: values[3] as Fault | null,
    inMemory: values[4] === 1,
    ephemeral: values[5] === 1,
  };
}

/** In the order of the columns. */
export function valuesOf(job: NewJob): Value[] {
  return [
    job.id,
    job.verb,
    job.reason,
    job.labels === null ? null : JSON.stringify(job.labels),
    JSON.stringify(job.asked),
    job.tenants === null ? null : JSON.stringify(job.tenants),
    job.actor,
    job.via,
    job.address,
    job.created,
  ];
}

/** A row's number, then its columns. */
export function jobOf(values: Value[]): JobRow {
  return {
    id: values[1] as string,
    verb: values[2] as JobKind,
    reason: values[3] as string | null,
    labels: values[4] === null ? null : (JSON.parse(values[4] as string) as Record<string, string | null>),
    asked: JSON.parse(values[5] as string),
    tenants: values[6] === null ? null : (JSON.parse(values[6] as string) as string[]),
    actor: values[7] as string,
    via: values[8] as Via,
    address: values[9] as string | null,
    created: values[10] as number,
    state: values[11] as JobState,
    finished: values[12] as number | null,
    chosen: values[13] as number,
    done: values[14] as number,
    failed: values[15] as number,
    skipped: values[16] as number,
  };
}

/** Position, outcome, reason, time. */
export function resultOf(values: Value[]): JobResult {
  return {
    position: values[0] as number,
    outcome: values[1] as JobOutcome,
    reason: values[2] as string | null,
    timeMs: values[3] as number,
  };
}
