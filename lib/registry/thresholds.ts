import { nextMove } from '../lifecycle/ladder.ts';
import { isBlocking } from '../lifecycle/words.ts';
import type { InstanceRow, Thresholds } from './types.ts';

type Subject = Pick<
  InstanceRow,
  | 'state'
  | 'updated'
  | 'created'
  | 'keepHot'
  | 'holdUntil'
  | 'ephemeral'
  | 'fault'
  | 'idleToSuspendSeconds'
  | 'idleToFreezeSeconds'
>;

/** A row's own thresholds, else those of its tenant. */
export function effectiveThresholds(
  row: Pick<InstanceRow, 'idleToSuspendSeconds' | 'idleToFreezeSeconds'>,
  tenant: Thresholds,
): Thresholds {
  return {
    idleToSuspendSeconds: row.idleToSuspendSeconds ?? tenant.idleToSuspendSeconds,
    idleToFreezeSeconds: row.idleToFreezeSeconds ?? tenant.idleToFreezeSeconds,
  };
}

/** Epoch seconds at which a row falls due, or null when it has no automatic move. An intent only suspends this. */
export function dueAt(row: Subject, tenant: Thresholds): number | null {
  const { state, updated, created, keepHot, holdUntil, ephemeral } = row;
  const subject = {
    state,
    updated,
    created,
    keepHot,
    holdUntil,
    ephemeral,
    blocked: isBlocking(row.fault),
    attached: 0,
  };
  return nextMove(subject, effectiveThresholds(row, tenant))?.at ?? null;
}
