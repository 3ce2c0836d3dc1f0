import { expect, test } from 'vitest';
import { type Toast, toastLifetimeMs, visibleToasts, withToast } from './toast-stack.ts';

const good = (number: number, key?: string): Toast => ({ number, ok: true, says: `done ${number}`, key });
const bad = (number: number): Toast => ({ number, ok: false, says: `failed ${number}` });
const all = (...toasts: Toast[]) => toasts.reduce<readonly Toast[]>(withToast, []);
const numbers = (toasts: readonly Toast[]) => toasts.map(({ number }) => number);

test('at most three messages are visible, and the oldest success makes room', () => {
  expect(numbers(all(good(1), good(2), good(3), good(4)))).toEqual([2, 3, 4]);
  expect(numbers(all(bad(1), good(2), good(3), good(4)))).toEqual([1, 3, 4]);
});

test('a failure is never dropped: it waits for a place', () => {
  const toasts = all(bad(1), bad(2), bad(3), bad(4));
  expect(numbers(toasts)).toEqual([1, 2, 3, 4]);
  expect(numbers(visibleToasts(toasts))).toEqual([1, 2, 3]);
  expect(numbers(all(bad(1), bad(2), bad(3), good(4)))).toEqual([1, 2, 3, 4]);
});

test('a message with the same key replaces the earlier one', () => {
  const toasts = all(good(1, 'job'), good(2), good(3, 'job'));
  expect(numbers(toasts)).toEqual([3, 2]);
});

test('a failure stays until it is dismissed, and a message with a button stays longer than others', () => {
  expect(toastLifetimeMs(bad(1))).toBeNull();
  const offer = toastLifetimeMs({ ok: true, says: 'gone', action: { label: 'Undo', run() {} } });
  expect(offer).toBeGreaterThan(toastLifetimeMs(good(1)) ?? Number.POSITIVE_INFINITY);
});
