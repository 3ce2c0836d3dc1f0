/** What the state map says to a filing or a walk: the states between, or why there is no way. Changes nothing. */
import { WinterdockError } from '../base/errors.ts';
import { EPHEMERAL_ENDS, hopRefusal } from '../lifecycle/plan.ts';
import { hopsFrom, mayReach, type State, transition } from '../lifecycle/states.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { Fault } from '../lifecycle/words.ts';
import type { InstanceRow } from '../registry/types.ts';
import { MEMORY } from './engine.ts';

export type TransitionSubject = Pick<InstanceRow, 'id' | 'state' | 'ephemeral' | 'vfsPath'>;

/**
 * The states between, when `active` may be passed through and there is no hop. Throws `conflict` for an ephemeral
 * sandbox that would be suspended or frozen, unless its process ends `unasked`, and `invalid_transition` when the map
 * has no way.
 */
export function intermediateStates(
  row: TransitionSubject,
  { to, through, unasked = false }: { to: State; through?: readonly State[]; unasked?: boolean },
): State[] {
  if (!unasked && row.vfsPath !== MEMORY && !mayReach(to, row)) throw invalidTransition(row, to, 'hop');
  const way = [row.state, ...(through ?? []), to];
  if (transition(row.state, to) === 'ok') return [];
  if (way.length > 2 && way.slice(1).every((next, at) => transition(way[at] ?? '', next) === 'ok')) {
    return way.slice(1, -1);
  }
  throw invalidTransition(row, to, 'hop');
}

/**
 * Why a sandbox cannot be brought to `to`: `conflict` where what it was created as forbids it, `invalid_transition`
 * where the map does.
 */
export function invalidTransition(row: TransitionSubject, to: State, what: 'hop' | 'way'): WinterdockError {
  if (row.vfsPath === MEMORY && (to === 'suspended' || to === 'frozen')) return memoryOnly(row);
  if (!mayReach(to, row)) {
    return new WinterdockError('conflict', `The sandbox "${row.id}" is not brought to ${to}. ${EPHEMERAL_ENDS}`, {
      hint: 'Take a snapshot to keep what is in it, or give it more time with timeout_secs.',
    });
  }
  return new WinterdockError('invalid_transition', `The sandbox "${row.id}" is ${row.state}: no ${what} to ${to}.`, {
    hint: hopRefusal(row.state, to, row),
    extra: { from: row.state, to, allowed: hopsFrom(row.state, row) },
  });
}

/** What is said to whoever wants to keep what lives only in memory. */
function memoryOnly(row: Pick<InstanceRow, 'id'>): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${row.id}" lives only in its process: nothing would be kept.`, {
    hint: 'Archive it with force to throw it away, then delete it.',
  });
}

/** Throws when someone wants to keep what lives only in memory. */
export function refuseMemory(row: InstanceRow): void {
  if (row.vfsPath === MEMORY) throw memoryOnly(row);
}

const FAULT_CODE: Readonly<Record<Exclude<Fault, 'error'>, 'unknown_state' | 'corrupt' | 'missing_file'>> = {
  unknown: 'unknown_state',
  corrupt: 'corrupt',
  missing: 'missing_file',
};

/** Throws the fault of a row that stops every wake and automatic move. */
export function refuseFaulted(row: InstanceRow): void {
  if (row.fault === null || row.fault === 'error') return;
  throw new WinterdockError(
    FAULT_CODE[row.fault],
    `The sandbox "${row.id}" is ${row.fault}: ${row.faultReason ?? 'no reason kept'}`,
    {
      hint: waysOut(row.fault),
    },
  );
}
