import { expect, test } from 'vitest';
import {
  asSetForAll,
  changedThresholds,
  parseThresholds,
  previewInWords,
  thresholdsAsText,
} from './threshold-values.ts';

const none = { suspended: 0, frozen: 0, ended: 0 };

test('thresholds are parsed as lengths of time within their bounds, and errors belong to their fields', () => {
  const global = { mayBeEmpty: false };
  expect(
    parseThresholds({ hot_to_warm_s: 'never', idle_to_suspend_s: '10 min', idle_to_freeze_s: '2 d' }, global),
  ).toEqual({
    patch: { hot_to_warm_s: 0, idle_to_suspend_s: 600, idle_to_freeze_s: 172_800 },
    errors: {},
  });
  expect(parseThresholds({ idle_to_suspend_s: '', idle_to_freeze_s: '365 d' }, global).errors).toEqual({
    hot_to_warm_s: 'must be a length of time, like 30 s, or never',
    idle_to_suspend_s: 'must be a length of time, like 15 min',
    idle_to_freeze_s: 'must be from 1 s to 364 d',
  });
  expect(parseThresholds({ idle_to_suspend_s: '0' }, { mayBeEmpty: true })).toEqual({
    patch: { hot_to_warm_s: null, idle_to_freeze_s: null },
    errors: { idle_to_suspend_s: 'must be from 1 s to 364 d' },
  });
});

test('only different thresholds are changed', () => {
  const present = { idle_to_suspend_s: 600, idle_to_freeze_s: null };
  expect(changedThresholds({ idle_to_suspend_s: 600, idle_to_freeze_s: 60 }, present)).toEqual({
    idle_to_freeze_s: 60,
  });
  expect(changedThresholds({ idle_to_suspend_s: 600, idle_to_freeze_s: null }, present)).toEqual({});
});

test('the preview says how many sandboxes would move at once, and where', () => {
  const says = previewInWords({
    within_s: 60,
    more: { ...none, suspended: 1317, ended: 1 },
    fewer: { ...none, frozen: 2 },
    cut: false,
  });
  expect(says).toEqual([
    '1,317 active sandboxes would be suspended within the next minute.',
    '1 ephemeral sandbox would be archived and deleted for good within the next minute.',
    '2 suspended sandboxes that would be frozen within the next minute would not yet.',
  ]);
  expect(previewInWords({ within_s: 60, more: none, fewer: none, cut: false })).toEqual([
    'No sandbox would move within the next minute because of it.',
  ]);
  const [first] = previewInWords({ within_s: 60, more: { ...none, frozen: 9 }, fewer: none, cut: true });
  expect(first).toMatch(/^At least 9 /);
});

test('the preview says what a changed time to pause means, which moves no sandbox', () => {
  const quiet = { within_s: 60, more: none, fewer: none, cut: false };
  const noMove = 'No sandbox would move within the next minute because of it.';
  expect(previewInWords(quiet, { hot_to_warm_s: 120 })).toEqual([
    'An idle process would be paused after 2 min; the next request continues it.',
    noMove,
  ]);
  expect(previewInWords(quiet, { hot_to_warm_s: 0 })).toEqual(['No process would be paused any more.', noMove]);
  expect(previewInWords(quiet, { hot_to_warm_s: null })).toEqual(['Processes would be paused as set for all.', noMove]);
});

test('a form begins with what is set, and says what applies where nothing is', () => {
  const own = { hot_to_warm_s: 0, idle_to_suspend_s: null, idle_to_freeze_s: 60 };
  expect(thresholdsAsText(own)).toEqual({ hot_to_warm_s: 'never', idle_to_suspend_s: '', idle_to_freeze_s: '1 min' });
  expect(asSetForAll({ hot_to_warm_s: 30, idle_to_suspend_s: 900, idle_to_freeze_s: 60 }).hot_to_warm_s).toBe(
    'as set for all: 30 s',
  );
});
