/** The state of the settings form. Safe for the browser: it imports no schema. Pure. */
import type { ActionOutcome } from '#components/ui/outcome.tsx';

export const SETTING_KEYS = [
  'name',
  'labels',
  'policy',
  'hot_to_warm_s',
  'idle_to_suspend_s',
  'idle_to_freeze_s',
  'hold_until',
  'keep_hot',
  'replicate',
] as const;
export type Setting = (typeof SETTING_KEYS)[number];
export type SettingsText = Record<Setting, string>;

export interface SettingsState {
  /** What was typed, when the form is shown again. */
  values: Partial<SettingsText>;
  /** The values that the form began with; null: the present ones. */
  base: SettingsText | null;
  errors: Partial<Record<Setting, string>>;
  outcome: ActionOutcome | null;
}

export type SettingsAction = (previous: SettingsState, form: FormData) => Promise<SettingsState>;

export const SETTING_NAMES: Readonly<Record<Setting, string>> = {
  name: 'Name',
  labels: 'Labels',
  policy: 'Policy',
  hot_to_warm_s: 'Pauses after',
  idle_to_suspend_s: 'Suspends after',
  idle_to_freeze_s: 'Freezes after',
  hold_until: 'Not before (UTC)',
  keep_hot: 'Keep hot',
  replicate: 'Replicates',
};
