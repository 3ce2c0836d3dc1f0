/** What the state map says of a filing or a plan, and what refuses one before its first effect. Changes nothing. */
import { WinterdockError } from '../../base/errors.ts';
import { EPHEMERAL_ENDS } from '../../lifecycle/plan.ts';
import { mayReach, type State, transition } from '../../lifecycle/state-map.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import type { Fault } from '../../lifecycle/words.ts';
import { invalidTransition } from '../../registry/registry-errors.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { MEMORY } from '../engine.ts';

export type TransitionSubject = Pick<InstanceRow, 'id' | 'state' | 'ephemeral' | 'vfsPath'>;

/**
 * The states that a filing passes through: none when the map has the hop, else those of `through` when the map leads
 * through them. Throws `invalid_transition` when it does not, and `conflict` for an ephemeral sandbox that would be
 * suspended or frozen, unless `evenIfEphemeral`.
 */
export function intermediateStates(
  row: TransitionSubject,
  {
    to,
    through,
    evenIfEphemeral = false,
  }: { to: State; through?: readonly State[]; evenIfEphemeral?: boolean | undefined },
): State[] {
  if (!evenIfEphemeral && row.vfsPath !== MEMORY && !mayReach(to, row)) throw transitionRefusal(row, to, 'hop');
  const path = [row.state, ...(through ?? []), to];
  if (transition(row.state, to) === 'ok') return [];
  if (path.length > 2 && path.slice(1).every((next, at) => transition(path[at] ?? '', next) === 'ok')) {
    return path.slice(1, -1);
  }
  throw transitionRefusal(row, to, 'hop');
}

/**
 * The error that tells why a sandbox cannot be brought to `to`: `conflict` where its kind forbids it (ephemeral, or
 * only in memory), `invalid_transition` where the map does.
 */
export function transitionRefusal(row: TransitionSubject, to: State, what: 'hop' | 'way'): WinterdockError {
  if (row.vfsPath === MEMORY && (to === 'suspended' || to === 'frozen')) return nothingToKeep(row);
  if (!mayReach(to, row)) {
    return new WinterdockError('conflict', `The sandbox "${row.id}" is not brought to ${to}. ${EPHEMERAL_ENDS}`, {
      hint: 'Take a snapshot to keep what is in it, or give it more time with timeout_secs.',
    });
  }
  return invalidTransition({ id: row.id, from: row.state, to }, { ephemeral: row.ephemeral, what });
}

/** A sandbox that lives only in memory has no file that could be kept. */
function nothingToKeep(row: Pick<InstanceRow, 'id'>): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${row.id}" lives only in its process: nothing would be kept.`, {
    hint: 'Archive it with force to throw it away, then delete it.',
  });
}

/** Throws for a sandbox that lives only in memory. */
export function refuseMemory(row: InstanceRow): void {
  if (row.vfsPath === MEMORY) throw nothingToKeep(row);
}

const FAULT_CODE: Readonly<Record<Exclude<Fault, 'error'>, 'unknown_state' | 'corrupt' | 'missing_file'>> = {
  unknown: 'unknown_state',
  corrupt: 'corrupt',
  missing: 'missing_file',
};

/** Throws the fault of a row when it stops wakes and automatic moves. */
export function refuseFaulted(row: InstanceRow): void {
  if (row.fault === null || row.fault === 'error') return;
  throw new WinterdockError(
    FAULT_CODE[row.fault],
    `The sandbox "${row.id}" is ${row.fault}: ${row.faultReason ?? 'no reason kept'}`,
    {
      hint: waysOut(row.fault, { isStored: row.stored !== null }),
    },
  );
}
