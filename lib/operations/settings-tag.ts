/**
 * The tag of what a person may change of a sandbox, so that two who change it at once do not overwrite each other.
 * Pure.
 */
import { createHash } from 'node:crypto';
import { WinterdockError } from '../base/errors.ts';
import type { Instance } from '../contract/schema.ts';
import type { InstanceRow } from '../registry/types.ts';

type Changeable = Pick<
  Instance,
  | 'name'
  | 'labels'
  | 'keep_hot'
  | 'hold_until'
  | 'hot_to_warm_s'
  | 'idle_to_suspend_s'
  | 'idle_to_freeze_s'
  | 'own_replicate'
  | 'policy'
  | 'workbook'
  | 'workbook_version'
>;

/**
 * The ETag of an instance: as long as it is the same, so is everything that PATCH changes. Other members change without
 * it.
 */
export function settingsTag(of: Changeable): string {
  const labels = Object.entries(of.labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const {
    name,
    keep_hot,
    hold_until,
    hot_to_warm_s,
    idle_to_suspend_s,
    idle_to_freeze_s,
    own_replicate,
    policy,
    workbook,
    workbook_version,
  } = of;
  const text = JSON.stringify([
    name,
    labels,
    keep_hot,
    hold_until,
    hot_to_warm_s,
    idle_to_suspend_s,
    idle_to_freeze_s,
    own_replicate,
    policy,
    workbook,
    workbook_version,
  ]);
  return `"s${createHash('sha256').update(text).digest('hex').slice(0, 20)}"`;
}

/** Throws `precondition_failed` unless an `If-Match` names the tag that a row has. */
export function requireTag(row: InstanceRow, ifMatch: string): void {
  const tag = settingsTag({
    ...row,
    keep_hot: row.keepHot,
    hold_until: row.holdUntil,
    hot_to_warm_s: row.hotToWarmSeconds,
    idle_to_suspend_s: row.idleToSuspendSeconds,
    idle_to_freeze_s: row.idleToFreezeSeconds,
    own_replicate: row.replicate,
    workbook_version: row.workbookVersion,
  });
  const named = ifMatch.split(',').map((one) => one.trim());
  if (named.includes('*') || named.includes(tag)) return;
  throw new WinterdockError('precondition_failed', `The settings of the sandbox "${row.id}" were changed meanwhile.`, {
    hint: 'Look at them again, then decide.',
  });
}
