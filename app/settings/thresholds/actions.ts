'use server';
/** Sets the thresholds of all or of one tenant, in two steps: a preview, then the change. */
import { refresh } from 'next/cache';
import type { Caller } from '#lib/auth/caller.ts';
import { slugSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import {
  changedThresholds,
  parseThresholds,
  previewInWords,
  THRESHOLDS,
  type ThresholdsPatch,
  type ThresholdsState,
} from './threshold-values.ts';

async function heldNow(caller: Caller, tenant: string | null): Promise<ThresholdsPatch> {
  const { operations } = getHost();
  if (tenant === null) return operations.getSettings(caller);
  const { hot_to_warm_s, idle_to_suspend_s, idle_to_freeze_s } = await operations.getTenant(caller, tenant);
  return { hot_to_warm_s, idle_to_suspend_s, idle_to_freeze_s };
}

async function set(caller: Caller, tenant: string | null, changed: ThresholdsPatch): Promise<void> {
  const { operations } = getHost();
  if (tenant !== null) {
    await operations.patchTenant(caller, tenant, changed);
    return;
  }
  const { hot_to_warm_s: pause, idle_to_suspend_s: suspend, idle_to_freeze_s: freeze } = changed;
  await operations.patchSettings(caller, {
    ...(typeof pause === 'number' ? { hot_to_warm_s: pause } : {}),
    ...(typeof suspend === 'number' ? { idle_to_suspend_s: suspend } : {}),
    ...(typeof freeze === 'number' ? { idle_to_freeze_s: freeze } : {}),
  });
}

/**
 * Previews the typed thresholds, or sets them when their preview was shown. Values that changed since are previewed
 * first. `tenant` null: the global thresholds.
 */
export async function setThresholds(
  tenant: string | null,
  _previous: ThresholdsState,
  form: FormData,
): Promise<ThresholdsState> {
  expectTexts(tenant ?? '');
  const caller = await requireCaller('/settings/thresholds');
  const values: ThresholdsState['values'] = {};
  for (const name of THRESHOLDS) values[name] = textField(form, name);
  const { patch, errors } = parseThresholds(values, { mayBeEmpty: tenant !== null });
  const complaining = { values, errors, outcome: null, preview: null };
  if (Object.keys(errors).length > 0) return complaining;
  if (tenant !== null && !slugSchema.safeParse(tenant).success) return complaining;
  try {
    const changed = changedThresholds(patch, await heldNow(caller, tenant));
    if (Object.keys(changed).length === 0) {
      const outcome = { ok: true, says: 'Nothing changed: these values are set already.' };
      return { values: {}, errors: {}, outcome, preview: null };
    }
    const key = JSON.stringify(changed);
    if (textField(form, 'do') !== 'set' || textField(form, 'seen') !== key) {
      const preview = await getHost().operations.previewThresholds(caller, {
        ...(tenant === null ? {} : { tenant }),
        ...changed,
      });
      return { values, errors: {}, outcome: null, preview: { key, says: previewInWords(preview, changed) } };
    }
    await set(caller, tenant, changed);
    refresh();
    const says = 'Set. The ladder uses them from now on.';
    return { values: {}, errors: {}, outcome: { ok: true, says }, preview: null };
  } catch (error) {
    return { values, errors: {}, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) }, preview: null };
  }
}
