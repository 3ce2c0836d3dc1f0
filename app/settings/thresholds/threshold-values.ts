/** The threshold fields: formatting, parsing, complaints, and the preview in words. Pure. */

import { parseDuration, parsePause } from '#components/ui/amounts.ts';
import { pauseInWords, thresholdInWords } from '#components/ui/durations.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { PreviewAnswer } from '#lib/contract/schema.ts';

export const THRESHOLDS = ['hot_to_warm_s', 'idle_to_suspend_s', 'idle_to_freeze_s'] as const;
export type Threshold = (typeof THRESHOLDS)[number];

/** The API's limit. */
const LONGEST_SECONDS = 52 * 7 * 86_400;

export interface ThresholdsState {
  values: Partial<Record<Threshold, string>>;
  errors: Partial<Record<Threshold, string>>;
  outcome: ActionOutcome | null;
  /** The preview of the values with this key. Only values that were previewed are set. */
  preview: { key: string; says: string[] } | null;
}

export type ThresholdsAction = (previous: ThresholdsState, form: FormData) => Promise<ThresholdsState>;

export type ThresholdsPatch = { [K in Threshold]?: number | null };

const LIKE: Readonly<Record<Threshold, string>> = {
  hot_to_warm_s: 'a length of time, like 30 s, or never',
  idle_to_suspend_s: 'a length of time, like 15 min',
  idle_to_freeze_s: 'a length of time, like 24 h',
};

const READ: Readonly<Record<Threshold, (text: string) => number | null>> = {
  hot_to_warm_s: parsePause,
  idle_to_suspend_s: parseDuration,
  idle_to_freeze_s: parseDuration,
};

const LEAST: Readonly<Record<Threshold, number>> = { hot_to_warm_s: 0, idle_to_suspend_s: 1, idle_to_freeze_s: 1 };

/** A threshold as text that `parseThresholds` reads back. */
function thresholdAsText(name: Threshold, seconds: number): string {
  return name === 'hot_to_warm_s' ? pauseInWords(seconds) : thresholdInWords(seconds);
}

/** Thresholds as the form shows them: empty for those that are not set. */
export function thresholdsAsText(present: Record<Threshold, number | null>): Record<Threshold, string> {
  const text = (name: Threshold) => {
    const seconds = present[name];
    return seconds === null ? '' : thresholdAsText(name, seconds);
  };
  return {
    hot_to_warm_s: text('hot_to_warm_s'),
    idle_to_suspend_s: text('idle_to_suspend_s'),
    idle_to_freeze_s: text('idle_to_freeze_s'),
  };
}

/** Placeholders of empty fields: what applies then. */
export function asSetForAll(global: Record<Threshold, number>): Record<Threshold, string> {
  const all = thresholdsAsText(global);
  return {
    hot_to_warm_s: `as set for all: ${all.hot_to_warm_s}`,
    idle_to_suspend_s: `as set for all: ${all.idle_to_suspend_s}`,
    idle_to_freeze_s: `as set for all: ${all.idle_to_freeze_s}`,
  };
}

/** Parses typed thresholds. An empty one removes an override, where `mayBeEmpty`. Complaints are by field. */
export function parseThresholds(
  values: ThresholdsState['values'],
  { mayBeEmpty }: { mayBeEmpty: boolean },
): { patch: ThresholdsPatch; errors: ThresholdsState['errors'] } {
  const patch: ThresholdsPatch = {};
  const errors: ThresholdsState['errors'] = {};
  for (const name of THRESHOLDS) {
    const text = values[name] ?? '';
    const seconds = text === '' ? null : READ[name](text);
    if (seconds === null && (text !== '' || !mayBeEmpty)) errors[name] = `must be ${LIKE[name]}`;
    else if (seconds !== null && (seconds < LEAST[name] || seconds > LONGEST_SECONDS))
      errors[name] = `must be from ${LEAST[name]} s to 364 d`;
    else patch[name] = seconds;
  }
  return { patch, errors };
}

/** The thresholds that differ from the present ones. */
export function changedThresholds(patch: ThresholdsPatch, present: ThresholdsPatch): ThresholdsPatch {
  return Object.fromEntries(
    THRESHOLDS.filter((name) => patch[name] !== undefined && patch[name] !== present[name]).map((name) => [
      name,
      patch[name],
    ]),
  );
}

const KINDS: readonly [kind: keyof PreviewAnswer['more'], one: string, many: string, would: string, spared: string][] =
  [
    ['suspended', 'active sandbox', 'active sandboxes', 'be suspended', 'be suspended'],
    ['frozen', 'suspended sandbox', 'suspended sandboxes', 'be frozen', 'be frozen'],
    ['ended', 'ephemeral sandbox', 'ephemeral sandboxes', 'be archived and deleted for good', 'be deleted'],
  ];

/** What a changed time to pause means; none when it stays. */
function pausePreview(seconds: number | null | undefined): string[] {
  if (seconds === undefined) return [];
  if (seconds === null) return ['Processes would be paused as set for all.'];
  if (seconds === 0) return ['No process would be paused any more.'];
  return [`An idle process would be paused after ${thresholdInWords(seconds)}; the next request continues it.`];
}

/** What a change would do to the present sandboxes, one sentence each. */
export function previewInWords(
  { more, fewer, cut }: PreviewAnswer,
  { hot_to_warm_s: pause }: Pick<ThresholdsPatch, 'hot_to_warm_s'> = {},
): string[] {
  const sentences = pausePreview(pause);
  const about = cut ? 'At least ' : '';
  const amount = (count: number, one: string, many: string) =>
    `${about}${count.toLocaleString('en')} ${count === 1 ? one : many}`;
  for (const [kind, one, many, would] of KINDS) {
    if (more[kind] > 0) sentences.push(`${amount(more[kind], one, many)} would ${would} within the next minute.`);
  }
  for (const [kind, one, many, , spared] of KINDS) {
    if (fewer[kind] > 0)
      sentences.push(`${amount(fewer[kind], one, many)} that would ${spared} within the next minute would not yet.`);
  }
  if (sentences.length > pausePreview(pause).length) return sentences;
  return [
    ...sentences,
    cut
      ? 'There are too many sandboxes to look at each: nothing was found that would move at once.'
      : 'No sandbox would move within the next minute because of it.',
  ];
}
