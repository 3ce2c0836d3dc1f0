import { type LadderPolicy, nextMove } from '../lifecycle/ladder.ts';
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
export function effectiveThresholds(row: Pick<InstanceRow, keyof Thresholds>, tenant: Thresholds): Thresholds {
  return { ...ladderPolicyOf(row, tenant), hotToWarmSeconds: row.hotToWarmSeconds ?? tenant.hotToWarmSeconds };
}

function ladderPolicyOf(row: Pick<InstanceRow, keyof LadderPolicy>, tenant: LadderPolicy): LadderPolicy {
  return {
    idleToSuspendSeconds: row.idleToSuspendSeconds ?? tenant.idleToSuspendSeconds,
    idleToFreezeSeconds: row.idleToFreezeSeconds ?? tenant.idleToFreezeSeconds,
  };
}

/** Epoch seconds at which a row falls due, or null when it has no automatic move. An intent only suspends this. */
export function dueAt(row: Subject, tenant: LadderPolicy): number | null {
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
  return nextMove(subject, ladderPolicyOf(row, tenant))?.at ?? null;
}
