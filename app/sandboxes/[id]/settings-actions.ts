'use server';
/** Server actions of the Settings tab: save, and delete the sandbox. */
import { refresh } from 'next/cache';
import { z } from 'zod';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { type PatchInput, reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { settingsTag } from '#lib/operations/settings-tag.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { SETTING_KEYS, SETTING_NAMES, type SettingsState, type SettingsText } from './settings-state.ts';
import { mergeSettings, parseSettings, settingsAsText } from './settings-values.ts';

/** Attempts to save when somebody else changes the row at the same moment. */
const ATTEMPTS = 5;

const baseSchema = z.strictObject(
  Object.fromEntries(SETTING_KEYS.map((name) => [name, z.string()])) as Record<keyof SettingsText, z.ZodString>,
);

function baseIn(form: FormData): SettingsText | null {
  try {
    const parsed = baseSchema.safeParse(JSON.parse(textField(form, 'base')));
    return parsed.success ? parsed.data : null;
  } catch {
    // Not a form of the console: treated as begun now.
    return null;
  }
}

/** Writes if the row is still the version `tag`; false when it is not. */
async function wrote(caller: Caller, id: InstanceId, patch: PatchInput, tag: string): Promise<boolean> {
  try {
    await getHost().operations.patchInstance(caller, id, patch, { ifMatch: tag });
    return true;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'precondition_failed') return false;
    throw error;
  }
}

/**
 * Saves what the person changed. What somebody else changed meanwhile stays; where both changed a setting, the person
 * decides.
 */
export async function saveSettings(bound: string, _previous: SettingsState, form: FormData): Promise<SettingsState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}?tab=settings`);
  const typed = Object.fromEntries(SETTING_KEYS.map((name) => [name, textField(form, name)])) as SettingsText;
  const state = (over: Partial<SettingsState>): SettingsState => ({
    values: typed,
    base: baseIn(form),
    errors: {},
    outcome: null,
    ...over,
  });
  const { operations } = getHost();
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const instance = await operations.getInstance(caller, id);
      const now = settingsAsText(instance);
      const { values, changed, clashes } = mergeSettings(typed, baseIn(form) ?? now, now);
      if (clashes.length > 0) {
        const clashWords = clashes.map((name) => `${SETTING_NAMES[name]}: ${now[name] === '' ? 'nothing' : now[name]}`);
        return state({
          values,
          base: now,
          outcome: {
            ok: false,
            says: `Somebody changed this meanwhile. ${clashWords.join('; ')}.`,
            hint: 'Nothing is saved yet. Your values are in the form: save again to replace theirs.',
          },
        });
      }
      if (changed.length === 0) {
        return state({
          values: {},
          base: null,
          outcome: { ok: true, says: 'Nothing changed: these values are set already.' },
        });
      }
      const { patch, errors } = parseSettings(values, changed);
      if (patch === null) return state({ values, errors, base: now });
      if (await wrote(caller, id, patch, settingsTag(instance))) {
        refresh();
        const says = `Saved: ${changed.map((name) => SETTING_NAMES[name].toLowerCase()).join(', ')}.`;
        return state({ values: {}, base: null, outcome: { ok: true, says } });
      }
    }
    return state({
      outcome: { ok: false, says: 'Others keep changing it.', hint: 'Try again in a moment.' },
    });
  } catch (error) {
    const problem = problemOf(error, caller);
    if (problem.code === 'conflict' && /\bname\b/i.test(problem.detail))
      return state({ errors: { name: problem.detail } });
    return state({ outcome: { ok: false, ...problemInWords(problem) } });
  }
}

/** Deletes an archived sandbox once its id was typed. */
export async function deleteSandbox(
  bound: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const reason = textField(form, 'reason');
  if (!reasonSchema.safeParse(reason).success)
    return { ok: false, says: 'The reason is too long: at most 1 000 characters.' };
  if (textField(form, 'confirm') !== id) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed id is not this sandbox’s.',
      hint: `Type ${id} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteInstance(caller, id, reason === '' ? {} : { reason });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}
