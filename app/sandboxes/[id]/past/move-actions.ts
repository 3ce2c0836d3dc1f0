'use server';
/** Server actions of moments: a name is given or taken, a restore undone, a file or folder taken back. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { nameMomentSchema, newMomentNameSchema, takeBackSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parseVolume } from '#lib/vfs/volumes.ts';
import { requireCaller } from '../../../caller.ts';
import { boundInstanceId, expectTexts, textField } from '../../../form-values.ts';
import { problemInWords, problemOf } from '../../../problem.ts';
import { visitorZone } from '../../../zone.ts';
import { secondInWords } from './moment-words.ts';
import type { NameState } from './name-form.tsx';
import { parseTime } from './past-address.ts';

type Outcomes = Promise<ActionOutcome>;

/** Runs what somebody asked for; a refusal is its outcome. */
async function acted(bound: string, act: (caller: Caller, id: InstanceId) => Promise<string>): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}?tab=past`);
  try {
    const says = await act(caller, id);
    refresh();
    return { ok: true, says };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Names a moment. `time`: as `exactTime` writes it. */
export async function nameMoment(
  bound: string,
  time: string,
  _previous: NameState,
  form: FormData,
): Promise<NameState> {
  expectTexts(time);
  const name = textField(form, 'name');
  const parsed = newMomentNameSchema.safeParse(name);
  if (!parsed.success) {
    const complaint = name === '' ? 'it needs a name' : (parsed.error.issues[0]?.message ?? 'is no name');
    return { name, complaint, outcome: null };
  }
  const outcome = await acted(bound, async (caller, id) => {
    const input = nameMomentSchema.parse({ time: parseTime(time) });
    await getHost().operations.nameMoment(caller, id, parsed.data, input);
    return `It is kept as “${parsed.data}” until that name is removed.`;
  });
  return { name: outcome.ok ? '' : name, complaint: null, outcome };
}

/** Takes the name from a moment, which then ages as others do. */
export async function removeMoment(bound: string, name: string, _previous: ActionOutcome | null): Outcomes {
  expectTexts(name);
  return acted(bound, async (caller, id) => {
    await getHost().operations.removeMoment(caller, id, name);
    return `“${name}” is removed.`;
  });
}

/** Brings back what the newest restore replaced. */
export async function undoRestore(bound: string, _previous: ActionOutcome | null): Outcomes {
  return acted(bound, async (caller, id) => {
    const { used } = await getHost().operations.undoRestore(caller, id, {});
    return `It is as of ${secondInWords(used * 1000, await visitorZone())} again.`;
  });
}

/** Puts what was at a path then in the place of what is there now. */
export async function takeEntryBack(
  bound: string,
  volume: string,
  path: string,
  time: string,
  _previous: ActionOutcome | null,
): Outcomes {
  expectTexts(volume, path, time);
  return acted(bound, async (caller, id) => {
    const input = takeBackSchema.parse({ path: path.replace(/\/$/, ''), time: parseTime(time) });
    const { files } = await getHost().operations.takeBack(caller, id, parseVolume(volume), input);
    return `/${volume}${path} is as it was then: ${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}.`;
  });
}
