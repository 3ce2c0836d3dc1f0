/** Errors that every driver throws, in the same words. */

import { WinterdockError } from '../base/errors.ts';
import { hopRefusal } from '../lifecycle/plan.ts';
import { hopsFrom, type SandboxKind, type State } from '../lifecycle/state-map.ts';
import type { Transition } from './instances.ts';
import type { ScheduleLimits } from './schedules.ts';
import type { SecretKey } from './secrets.ts';
import type { InstanceRow } from './types.ts';
import type { WorkbookCondition, WorkbookRow } from './workbooks.ts';

/** Another server, or a tool, has the registry. */
export class RegistryInUse extends Error {}

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

/** A tenant has used up a quota, or would. `hint`: what to do about it, without an end. */
export function quotaExceeded(
  tenant: string,
  quota: string,
  limit: number,
  used: number,
  what: string,
  hint: string,
): WinterdockError {
  return new WinterdockError('quota_exceeded', `The tenant "${tenant}" may have ${limit} ${what} and has ${used}.`, {
    hint: `${hint}, or have the quota raised.`,
    extra: { quota, limit, used },
  });
}

/** Throws `quota_exceeded` for one active sandbox more. */
export function requireActiveLeft(tenant: string, limit: number, used: number): void {
  if (used < limit) return;
  const hint = 'Suspend one, or wait until one idles';
  throw quotaExceeded(tenant, 'max_active', limit, used, 'active sandboxes', hint);
}

/** Throws `quota_exceeded` when more bytes are used, those of snapshots among them, than a tenant may have. */
export function requireSnapshotBytes(tenant: string, limit: number, used: number): void {
  if (used <= limit) return;
  const hint = 'Delete snapshots, files or sandboxes';
  throw quotaExceeded(tenant, 'max_bytes', limit, used, 'bytes in sandboxes and snapshots together', hint);
}

/** A version of a workbook was removed. */
export function versionGone(workbook: string, version: number): WinterdockError {
  return new WinterdockError('conflict', `The workbook "${workbook}" has no version ${version} any more.`, {
    hint: 'Look at the workbook again, and dock to a version that is there.',
  });
}

/** The error of a second blueprint of the same name. */
export function blueprintTaken(name: string, cause: unknown): WinterdockError {
  return new WinterdockError('conflict', `There is a blueprint "${name}" already.`, {
    hint: 'Choose another name, or delete the one that has it.',
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

/** A sandbox or a tenant has as many runs as it may have. */
export function tooManyRuns(who: string, limit: number, used: number, setting: 'SANDBOX' | 'TENANT'): WinterdockError {
  return new WinterdockError('quota_exceeded', `${who} may have ${limit} runs at the same time, and has that many.`, {
    hint: `Wait for one to end, stop one, or raise WB_RUNS_PER_${setting}.`,
    extra: { quota: `runs_per_${setting.toLowerCase()}`, limit, used },
  });
}

/** There is no room for another secret. */
export function tooManySecrets({ tenant: ofTenant, instance: ofInstance }: SecretKey, most: number): WinterdockError {
  const whose = ofInstance === '' ? `The tenant "${ofTenant}"` : `The sandbox "${ofInstance}"`;
  return new WinterdockError('quota_exceeded', `${whose} may have ${most} secrets, and has that many.`, {
    hint: 'Remove one that is not used.',
    extra: { quota: 'secrets', limit: most, used: most },
  });
}

/** There is a bundle with this id. */
export function shareTaken(id: string): WinterdockError {
  return new WinterdockError('conflict', `There is a share "${id}" already.`);
}

/** There is no room for another webhook. */
export function tooManyWebhooks(most: number): WinterdockError {
  return new WinterdockError('quota_exceeded', `There are ${most} webhooks already, the most that are allowed.`, {
    hint: 'Remove one that is not needed.',
    extra: { quota: 'webhooks', limit: most },
  });
}

/** Throws `quota_exceeded` without room for another workbook. */
export function requireWorkbookRoom(tenant: string, most: number, used: number): void {
  if (used < most) return;
  throw new WinterdockError('quota_exceeded', `The tenant "${tenant}" has ${used} workbooks, the most there may be.`, {
    hint: 'Delete one that nothing is docked to.',
    extra: { quota: 'max_workbooks', limit: most, used },
  });
}

/** A workbook that is docked is not removed. */
export function workbookInUse({ id, docked }: WorkbookRow): WinterdockError {
  const message = `The workbook "${id}" is docked in ${docked} ${docked === 1 ? 'sandbox' : 'sandboxes'}.`;
  return new WinterdockError('conflict', message, {
    hint: 'Dock those to another workbook, or to none, first.',
    extra: { docked },
  });
}

/** Throws `precondition_failed` unless the workbook is as the caller expects. */
export function requireWorkbookCondition(
  id: string,
  row: WorkbookRow | null,
  condition: WorkbookCondition | undefined,
): void {
  const names = (versions: '*' | readonly number[]) =>
    row !== null && (versions === '*' || versions.includes(row.version));
  const { ifMatch, ifNoneMatch } = condition ?? {};
  if ((ifMatch === undefined || names(ifMatch)) && (ifNoneMatch === undefined || !names(ifNoneMatch))) return;
  const message = row === null ? `There is no workbook "${id}".` : `The workbook "${id}" is at version ${row.version}.`;
  throw new WinterdockError('precondition_failed', message, { hint: 'Look at it again, then decide.' });
}
