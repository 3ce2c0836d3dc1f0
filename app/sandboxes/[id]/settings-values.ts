/**
 * Settings as text in a form: formatting the present values, parsing typed ones, and merging them with what somebody
 * else changed meanwhile. Pure.
 */

import { parseDuration, parsePause } from '#components/ui/amounts.ts';
import { pauseInWords, thresholdInWords } from '#components/ui/durations.ts';
import { formatLabels, parseLabels } from '#components/ui/label-text.ts';
import { formatMinute, parseMoment } from '#components/ui/moments.ts';
import { type Instance, type PatchInput, patchSchema } from '#lib/contract/schema.ts';
import { SETTING_KEYS, type Setting, type SettingsState, type SettingsText } from './settings-state.ts';

/** The present values as text. */
export function settingsAsText(
  instance: Pick<
    Instance,
    | 'name'
    | 'labels'
    | 'policy'
    | 'hot_to_warm_s'
    | 'idle_to_suspend_s'
    | 'idle_to_freeze_s'
    | 'hold_until'
    | 'keep_hot'
    | 'own_replicate'
  >,
): SettingsText {
  const length = (seconds: number | null) => (seconds === null ? '' : thresholdInWords(seconds));
  return {
    name: instance.name ?? '',
    labels: formatLabels(instance.labels),
    policy: instance.policy,
    hot_to_warm_s: instance.hot_to_warm_s === null ? '' : pauseInWords(instance.hot_to_warm_s),
    idle_to_suspend_s: length(instance.idle_to_suspend_s),
    idle_to_freeze_s: length(instance.idle_to_freeze_s),
    hold_until: instance.hold_until === null ? '' : formatMinute(instance.hold_until),
    keep_hot: instance.keep_hot ? '1' : '',
    replicate: instance.own_replicate ?? '',
  };
}

const same = (a: string, b: string) => a.replace(/\r\n/g, '\n') === b.replace(/\r\n/g, '\n');

/**
 * Merges typed values with the present ones. `base`: what the person saw; a setting that they did not change takes its
 * present value. `changed`: the settings they changed. `clashes`: those of them that somebody else changed to something
 * else.
 */
export function mergeSettings(
  typed: SettingsText,
  base: SettingsText,
  now: SettingsText,
): { values: SettingsText; changed: Setting[]; clashes: Setting[] } {
  const changed = SETTING_KEYS.filter((name) => !same(typed[name], base[name]));
  const values = { ...now };
  for (const name of changed) values[name] = typed[name];
  const clashes = changed.filter((name) => !same(now[name], base[name]) && !same(now[name], typed[name]));
  return { values, changed: changed.filter((name) => !same(now[name], typed[name])), clashes };
}

const LIKE = { hot_to_warm_s: '30 s, or never', idle_to_suspend_s: '15 min', idle_to_freeze_s: '24 h' } as const;

function lengthOf(name: keyof typeof LIKE, text: string): number | null | undefined {
  if (text === '') return null;
  return (name === 'hot_to_warm_s' ? parsePause(text) : parseDuration(text)) ?? undefined;
}

/** Parses the changed settings with the API's own schema. Complaints are by field. */
export function parseSettings(
  values: SettingsText,
  changed: readonly Setting[],
): { patch: PatchInput | null; errors: SettingsState['errors'] } {
  const errors: SettingsState['errors'] = {};
  const input: Partial<Record<Setting, unknown>> = {};
  for (const name of changed) {
    const text = values[name];
    if (name === 'hot_to_warm_s' || name === 'idle_to_suspend_s' || name === 'idle_to_freeze_s') {
      const seconds = lengthOf(name, text);
      if (seconds === undefined) errors[name] = `must be a length of time, like ${LIKE[name]}`;
      else input[name] = seconds;
    } else if (name === 'hold_until') {
      const moment = text === '' ? null : parseMoment(text, 'first');
      if (text !== '' && moment === null) errors.hold_until = 'must be a moment, like 2026-11-22T05:30';
      else input.hold_until = moment;
    } else if (name === 'keep_hot') input.keep_hot = text === '1';
    else if (name === 'labels') input.labels = parseLabels(text);
    else input[name] = text === '' ? null : text;
  }
  const parsed = patchSchema.safeParse(input);
  for (const issue of parsed.error?.issues ?? []) {
    const field = SETTING_KEYS.find((name) => name === issue.path[0]);
    if (field === undefined) continue;
    const where = issue.path.slice(1).join('.');
    // For a wrong label key the message lies one level deeper.
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    errors[field] ??= where === '' ? message : `${where}: ${message}`;
  }
  return { patch: parsed.success && Object.keys(errors).length === 0 ? parsed.data : null, errors };
}
