import { expect, test } from 'vitest';
import { isDrawerKey, keyInWords, SHORTCUTS, shortcutFor } from './shortcut-table.ts';

const ALL = SHORTCUTS.flatMap(({ shortcuts }) => shortcuts);

test('no two shortcuts share their keys, and none is the beginning of another', () => {
  const keys = ALL.map((shortcut) => shortcut.keys.join(' '));
  expect(new Set(keys).size).toBe(keys.length);
  for (const one of keys) for (const other of keys) expect(other.startsWith(`${one} `)).toBe(false);
});

test('a page is opened by g and its letter, and by nothing shorter', () => {
  expect(shortcutFor(null, 'g')).toBe('waits');
  expect(shortcutFor('g', 's')).toMatchObject({ does: { go: '/sandboxes' } });
  expect(shortcutFor(null, 's')).toBeNull();
  expect(shortcutFor('g', 'z')).toBeNull();
  expect(shortcutFor('g', 'g')).toBeNull();
});

test('the browser’s own shortcuts are left alone', () => {
  expect(shortcutFor(null, 'Enter')).toBeNull();
  expect(shortcutFor(null, 'Escape')).toBeNull();
  expect(shortcutFor(null, 'k')).toMatchObject({ does: 'previous' });
});

test('the terminal has the key below Escape with Ctrl, whatever that key writes on a keyboard', () => {
  const key = { key: '`', code: 'Backquote', ctrlKey: true, altKey: false, metaKey: false, shiftKey: false };
  expect(isDrawerKey(key)).toBe(true);
  expect(isDrawerKey({ ...key, key: 'Dead' })).toBe(true);
  for (const other of [{ ctrlKey: false }, { altKey: true }, { metaKey: true }, { shiftKey: true }])
    expect(isDrawerKey({ ...key, ...other })).toBe(false);
});

test('the modifier is named as on the visitor’s keyboard', () => {
  expect([keyInWords('mod', true), keyInWords('mod', false), keyInWords('k', false)]).toEqual(['⌘', 'Ctrl', 'K']);
});
