/** How a change derives the next row from the current one, alike in every driver. Pure. */
import type { InstancePatch, Transition } from './instances.ts';
import type { InstanceRow, NewInstance } from './types.ts';

type Raised = NonNullable<Transition['fault']>;

/** The row of a new instance; `now` in epoch seconds. */
export function newRow(instance: NewInstance, now: number): InstanceRow {
  return {
    ...instance,
    name: instance.name?.toWellFormed() ?? null,
    labels: wellFormed(instance.labels),
    state: 'created',
    updated: now,
    created: now,
    stateSince: now,
    generation: 0,
    fault: null,
    faultReason: null,
    pending: null,
    holdUntil: null,
    workbookVersion: instance.workbookVersion ?? null,
    bytes: instance.bytes ?? null,
    file: instance.file ?? null,
    failures: 0,
  };
}

/** `undefined` leaves the fault alone, null clears it. */
export function faultOf(
  fault: Raised | null | undefined,
  before: InstanceRow,
): Pick<InstanceRow, 'fault' | 'faultReason'> {
  if (fault === undefined) return { fault: before.fault, faultReason: before.faultReason };
  return { fault: fault?.fault ?? null, faultReason: fault?.reason ?? null };
}

/** Text that SQLite returns unchanged: lone surrogates are replaced. */
export function wellFormed(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key.toWellFormed(), value.toWellFormed()]));
}

/** The columns that `patch` changes. */
const SETTINGS = [
  'name',
  'keepHot',
  'holdUntil',
  'hotToWarmSeconds',
  'idleToSuspendSeconds',
  'idleToFreezeSeconds',
  'policy',
  'workbook',
  'workbookVersion',
] as const satisfies readonly (keyof InstancePatch)[];

/** True when the settings of a row are still as the caller read them. */
export function hasSettingsOf(row: InstanceRow, asRead: InstanceRow): boolean {
  const labels = ({ labels }: InstanceRow) => JSON.stringify(Object.entries(labels).sort());
  return SETTINGS.every((name) => row[name] === asRead[name]) && labels(row) === labels(asRead);
}
