'use server';
/** Server actions of backups: make one, try one, bring a sandbox back, change the settings. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { putBackupSettingsSchema, restoreBackupSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { invalidForm, refusedForm, trimmedFields } from '../form-parser.ts';
import type { FormState } from '../form-state.ts';
import { keptCount, oneInWords } from './backup-words.ts';

const PATH = '/settings/backups';

const SETTING_FIELDS = [
  ...(['target', 'cron', 'timezone', 'enabled', 'hourly', 'daily', 'weekly', 'monthly'] as const),
  ...(['trial_cron', 'with_keys', 'keep'] as const),
] as const;
export type BackupField = (typeof SETTING_FIELDS)[number];
const RESTORE_FIELDS = ['instance', 'as', 'reason'] as const;
export type RestoreField = (typeof RESTORE_FIELDS)[number];

async function act(work: (caller: Caller) => Promise<ActionOutcome | null>): Promise<ActionOutcome | null> {
  const caller = await requireCaller(PATH);
  try {
    const outcome = await work(caller);
    refresh();
    return outcome;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Makes a backup in the background. */
export async function askForBackup(_previous: ActionOutcome | null, form: FormData): Promise<ActionOutcome | null> {
  const reason = textField(form, 'reason');
  return act(async (caller) => {
    await getHost().operations.makeBackup(caller, reason === '' ? {} : { reason });
    return { ok: true, says: 'It is being made.' };
  });
}

/** Restores one drawn sandbox of it to a folder that is removed again. */
export async function tryBackup(
  id: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  return act(async (caller) => {
    const { verified } = await getHost().operations.verifyBackup(caller, id);
    const error = verified?.error ?? null;
    return error === null ? { ok: true, says: 'It came back as it was.' } : { ok: false, says: error };
  });
}

/** Says what bringing a sandbox back would do, or does it, by the button that was pressed. */
export async function restoreFromBackup(
  id: string,
  _previous: FormState<RestoreField>,
  form: FormData,
): Promise<FormState<RestoreField>> {
  expectTexts(id);
  const caller = await requireCaller(`${PATH}/${id}`);
  const values = trimmedFields(form, RESTORE_FIELDS);
  const dry = textField(form, 'intent') !== 'restore';
  const { instance, as, reason } = values;
  if (instance === '') return { values, errors: { instance: 'name the sandbox' }, outcome: null, secret: null };
  const parsed = restoreBackupSchema.safeParse({
    instance,
    ...(as === '' ? {} : { as }),
    ...(reason === '' ? {} : { reason }),
    dry_run: dry,
  });
  if (!parsed.success) return invalidForm(values, parsed.error, RESTORE_FIELDS);
  try {
    const answer = await getHost().operations.restoreBackup(caller, id, parsed.data);
    if (dry) {
      const isRefused = answer.one?.refusal != null;
      return { values, errors: {}, outcome: { ok: !isRefused, says: oneInWords(answer) }, secret: null };
    }
    refresh();
    const { one } = answer;
    const says = `${one?.as} is ${one?.now} now, as it was in this backup.`;
    return { values: {}, errors: {}, outcome: { ok: true, says }, secret: null };
  } catch (error) {
    return refusedForm(values, error, caller, RESTORE_FIELDS);
  }
}

/** Changes when and where backups are made. A place is tried before it is taken. */
export async function saveBackupSettings(
  _previous: FormState<BackupField>,
  form: FormData,
): Promise<FormState<BackupField>> {
  const caller = await requireCaller(PATH);
  const values = trimmedFields(form, SETTING_FIELDS);
  const { target, cron, timezone, trial_cron: trial } = values;
  const parsed = putBackupSettingsSchema.safeParse({
    enabled: values.enabled === 'on',
    target: target === '' ? null : target,
    cron,
    timezone,
    keep: {
      hourly: keptCount(values.hourly),
      daily: keptCount(values.daily),
      weekly: keptCount(values.weekly),
      monthly: keptCount(values.monthly),
    },
    with_keys: values.with_keys === 'on',
    trial_cron: trial === '' ? null : trial,
  });
  if (!parsed.success) return invalidForm(values, parsed.error, SETTING_FIELDS);
  try {
    await getHost().operations.putBackupSettings(caller, parsed.data);
    refresh();
    return { values, errors: {}, outcome: { ok: true, says: 'Changed.' }, secret: null };
  } catch (error) {
    return refusedForm(values, error, caller, SETTING_FIELDS);
  }
}
