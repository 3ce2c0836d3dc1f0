/** States, faults, verbs and moves in words. Pure; built on the words of the state map. */
import type { Instance } from '#lib/contract/schema.ts';
import { FAULT_HAPPENED } from '#lib/contract/trouble-words.ts';
import type { State, Verb } from '#lib/lifecycle/state-map.ts';
import { waysOut } from '#lib/lifecycle/ways-out.ts';
import type { Fault } from '#lib/lifecycle/words.ts';
import { agoInWords, lengthInWords } from '../ui/durations.ts';

/** The first word of a state's headline. */
const STANDING: Readonly<Record<State, string>> = {
  created: 'Registered',
  active: 'Awake',
  suspended: 'Asleep',
  frozen: 'Asleep',
  archived: 'Filed away',
  deleted: 'Gone',
};

const FAULT_STANDING: Readonly<Record<Fault, string>> = {
  error: 'Crashed',
  unknown: 'Stuck',
  corrupt: 'Damaged',
  missing: 'File missing',
};

const PENDING: Readonly<Record<string, string>> = {
  resume: 'waking now',
  suspend: 'being suspended now',
  freeze: 'being frozen now',
  archive: 'being archived now',
  revive: 'being revived now',
  delete: 'being deleted now',
  prefetch: 'being brought home now',
  restore: 'being restored now',
};

export type HeadlineFields = Pick<
  Instance,
  'state' | 'fault' | 'fault_reason' | 'state_since' | 'warm_since' | 'pending' | 'interrupted' | 'unreachable'
>;

/** The first word of the headline: `Awake`, `Asleep`, `Damaged`. */
export function headlineWord(instance: HeadlineFields): string {
  return instance.fault === null ? STANDING[instance.state] : FAULT_STANDING[instance.fault];
}

/** The rest of the headline: where it is and since when. `now` in epoch seconds. */
export function headlineDetail(instance: HeadlineFields, now: number): string {
  if (instance.unreachable !== null) return awayDetail(instance.state, instance.unreachable.last_seen, now);
  if (instance.interrupted)
    return `interrupted while ${(PENDING[instance.pending ?? ''] ?? 'moved').replace(/ now$/, '')}`;
  if (instance.pending !== null) return PENDING[instance.pending] ?? `${instance.pending} under way`;
  const seconds = Math.max(0, now - instance.state_since);
  if (instance.fault === 'corrupt') return 'refused at wake';
  if (instance.fault === 'missing') return `${instance.state}, but its file is not in its drawer`;
  if (instance.fault === 'unknown') return `${instance.state}, filing failed three times`;
  if (instance.state === 'created') return agoInWords(seconds);
  if (instance.warm_since !== null) {
    return `warm, paused for ${lengthInWords(Math.max(0, now - instance.warm_since))}`;
  }
  if (instance.state === 'active') return `for ${lengthInWords(seconds)}`;
  return `${instance.state} ${agoInWords(seconds)}`;
}

function awayDetail(state: State, lastSeen: number | null, now: number): string {
  const kept = state === 'active' ? '' : `${state}, `;
  if (lastSeen === null) return `${kept}its host is away`;
  return `${kept}its host has been away for ${lengthInWords(Math.max(0, now - lastSeen))}`;
}

/** What each fault means, with the ways out. */
export const FAULT_MEANS: Readonly<Record<Fault, string>> = {
  error: FAULT_HAPPENED.error,
  unknown: `${FAULT_HAPPENED.unknown} ${waysOut('unknown')}`,
  corrupt: `${FAULT_HAPPENED.corrupt} ${waysOut('corrupt')}`,
  missing: `${FAULT_HAPPENED.missing} ${waysOut('missing')}`,
};

export const VERB_WORDS: Readonly<Record<Verb, { label: string; does: string }>> = {
  resume: { label: 'Resume', does: 'Start a process on its file. tmp is cleared on the way.' },
  suspend: { label: 'Suspend', does: 'End the process, keep the file where it is.' },
  freeze: { label: 'Freeze', does: 'Move the file into the cold drawer.' },
  archive: { label: 'Archive', does: 'Compress the file into the archive. Nothing wakes it there but a revive.' },
  revive: { label: 'Revive', does: 'Take it out of the archive and start it again.' },
  delete: { label: 'Delete', does: 'Remove the file for good. Its ledger stays.' },
};
