/** What the form of a new schedule sends and gets back. */
import type { ActionOutcome } from '../ui/outcome.tsx';
import { RHYTHM_FIELDS } from './rhythm.ts';

export const SCHEDULE_FIELDS = ['what', 'command', ...RHYTHM_FIELDS, 'timezone', 'missed', 'input'] as const;
export type ScheduleField = (typeof SCHEDULE_FIELDS)[number];

/** The fields that decide when it is due. */
export const TIMING_FIELDS: readonly string[] = [...RHYTHM_FIELDS, 'timezone'];

export interface ScheduleState {
  values: Partial<Record<ScheduleField, string>>;
  errors: Partial<Record<ScheduleField, string>>;
  outcome: ActionOutcome | null;
  /** The next times, in epoch seconds, when they were asked for. */
  next: readonly number[] | null;
}

export const BLANK_SCHEDULE: ScheduleState = { values: {}, errors: {}, outcome: null, next: null };
