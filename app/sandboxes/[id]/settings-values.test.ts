import { expect, test } from 'vitest';
import { SETTING_KEYS, type SettingsText } from './settings-state.ts';
import { mergeSettings, parseSettings, settingsAsText } from './settings-values.ts';

const HELD = {
  name: 'Price watch',
  labels: { env: 'prod', team: 'a: b' },
  policy: 'posix',
  hot_to_warm_s: 0,
  idle_to_suspend_s: 600,
  idle_to_freeze_s: null,
  hold_until: 1_763_789_400,
  keep_hot: false,
  replicate: '5s',
};
const BASE = settingsAsText({ ...HELD, own_replicate: HELD.replicate });
const over = (values: Partial<SettingsText>): SettingsText => ({ ...BASE, ...values });

test('unchanged values parse to the current settings', () => {
  expect(parseSettings(BASE, SETTING_KEYS)).toEqual({ patch: HELD, errors: {} });
  const nothing = settingsAsText({
    ...HELD,
    name: null,
    labels: {},
    hold_until: null,
    keep_hot: true,
    own_replicate: null,
  });
  expect(parseSettings(nothing, ['name', 'labels', 'hold_until', 'keep_hot', 'replicate']).patch).toEqual({
    name: null,
    labels: {},
    hold_until: null,
    keep_hot: true,
    replicate: null,
  });
});

test('only changed settings are requested, and errors belong to their fields', () => {
  expect(parseSettings(over({ name: 'x' }), ['name']).patch).toEqual({ name: 'x' });
  const { patch, errors } = parseSettings(
    over({
      labels: 'bad key!: 1',
      idle_to_suspend_s: 'soon',
      hold_until: 'tomorrow',
      idle_to_freeze_s: '400 d',
      hot_to_warm_s: 'always',
    }),
    SETTING_KEYS,
  );
  expect(patch).toBeNull();
  expect(errors.hot_to_warm_s).toBe('must be a length of time, like 30 s, or never');
  expect(Object.keys(errors).sort()).toEqual([
    'hold_until',
    'hot_to_warm_s',
    'idle_to_freeze_s',
    'idle_to_suspend_s',
    'labels',
  ]);
});

test('a concurrent change of another setting stays, and of the same setting is a clash', () => {
  const now = over({ name: 'Theirs', keep_hot: '1' });
  expect(mergeSettings(over({ labels: 'env: test' }), BASE, now)).toEqual({
    values: { ...now, labels: 'env: test' },
    changed: ['labels'],
    clashes: [],
  });
  const both = mergeSettings(over({ name: 'Mine' }), BASE, now);
  expect([both.values.name, both.changed, both.clashes]).toEqual(['Mine', ['name'], ['name']]);
  const alike = mergeSettings(over({ name: 'Theirs' }), BASE, now);
  expect([alike.changed, alike.clashes]).toEqual([[], []]);
  const labels = mergeSettings(over({ labels: BASE.labels.replaceAll('\n', '\r\n') }), BASE, now);
  expect(labels.changed).toEqual([]);
});
