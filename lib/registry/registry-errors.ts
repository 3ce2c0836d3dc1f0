/** Errors that every driver throws, in the same words. */
import { WinterdockError } from '../base/errors.ts';
import { hopRefusal } from '../lifecycle/plan.ts';
import { hopsFrom, type SandboxKind, type State } from '../lifecycle/states.ts';
import type { Transition } from './instances.ts';
import type { ScheduleLimits } from './schedules.ts';
import type { InstanceRow } from './types.ts';

/** The id is or was in use. */
export function idTaken(id: string, cause?: unknown): WinterdockError {
  return new WinterdockError('conflict', `The id "${id}" is taken.`, {
    hint: 'Choose another: an id is never used again, not even after its sandbox was deleted.',
    field: 'id',
    cause,
  });
}

/** Another sandbox of the tenant has this name. */
export function nameTaken({ name, tenant }: Pick<InstanceRow, 'name' | 'tenant'>, cause?: unknown): WinterdockError {
  return new WinterdockError('conflict', `The name "${name}" is taken in the tenant "${tenant}".`, {
    hint: 'Choose another, or rename the sandbox that has it.',
    field: 'name',
    cause,
  });
}

/** The settings have changed since the caller read them. */
export function settingsChanged(id: string): WinterdockError {
  return new WinterdockError('precondition_failed', `The settings of the sandbox "${id}" were changed meanwhile.`, {
    hint: 'Look at them again, then decide.',
  });
}

/** The row changed between the read and the compare-and-set. */
export function stateChanged(row: InstanceRow, hop: Transition): WinterdockError {
  const now = `${row.state} (generation ${row.generation})`;
  return new WinterdockError(
    'conflict',
    `The sandbox "${row.id}" has moved on: it is ${now}, not ${hop.from} (generation ${hop.generation}).`,
    { hint: 'Look at it again, then decide.' },
  );
}

/** Another acquisition has the row than the one that writes. */
export function ownerChanged({ id, ownerHost }: Pick<InstanceRow, 'id' | 'ownerHost'>): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${id}" is no longer held by who writes it: by ${ownerHost}.`, {
    hint: 'Look at it again, then decide.',
  });
}

/** The state map has no such hop, or no hops that lead a sandbox of this kind there. */
export function invalidTransition(
  { id, from, to }: { id: string; from: State; to: State },
  { what = 'hop', ...kind }: SandboxKind & { what?: 'hop' | 'way' } = {},
): WinterdockError {
  return new WinterdockError('invalid_transition', `The sandbox "${id}" is ${from}: no ${what} to ${to}.`, {
    hint: hopRefusal(from, to, kind),
    extra: { from, to, allowed: hopsFrom(from, kind) },
  });
}

/** Refuses a new row for a tenant that is being forgotten. */
export function tenantBeingForgotten(tenant: string | null, cause?: unknown): WinterdockError {
  const which = tenant === null ? 'The tenant' : `The tenant "${tenant}"`;
  return new WinterdockError('conflict', `${which} is being forgotten: nothing is made for it meanwhile.`, {
    hint: 'Wait until its job has ended. The name is free again then.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Throws `quota_exceeded` unless a sandbox or a tenant that has `used` schedules may have `more`. */
export function requireScheduleLimit(
  whose: { instance: string } | { tenant: string },
  { perSandbox, perTenant }: ScheduleLimits,
  used: number,
  more: number,
): void {
  const [who, quota, limit] =
    'instance' in whose
      ? [`The sandbox "${whose.instance}"`, 'schedules_per_sandbox', perSandbox]
      : [`The tenant "${whose.tenant}"`, 'schedules_per_tenant', perTenant];
  if (used + more <= limit) return;
  const needed = more === 1 ? '' : `, and ${more} more are needed`;
  throw new WinterdockError('quota_exceeded', `${who} may have ${limit} schedules and has ${used}${needed}.`, {
    hint: `Remove some, or raise WB_${quota.toUpperCase()}.`,
    extra: { quota, limit, used },
  });
}
