import { expect, test } from 'vitest';
import { linesIn, PrintBudget } from './print-budget.ts';

test('a lot is kept at once, and of one that prints for ever so much a second', () => {
  const budget = new PrintBudget(0);
  const all = 'yes\n'.repeat(30_000);
  const first = budget.allowed(all, 0);
  expect([linesIn(first.kept), first.dropped]).toEqual([20_000, 10_000]);
  expect(budget.allowed('yes\n', 0)).toEqual({ kept: '', dropped: 1 });
  expect(linesIn(budget.allowed(all, 500).kept)).toBe(500);
  expect(linesIn(budget.allowed(all, 1_000_000).kept)).toBe(20_000);
});

test('a text without newlines is kept up to its characters, and nothing is lost that fits', () => {
  const budget = new PrintBudget(0);
  const { kept, dropped } = budget.allowed('a'.repeat(3_000_000), 0);
  expect([kept.length, dropped]).toEqual([2 * 1024 * 1024, 1]);
  expect(new PrintBudget(0).allowed('a\nb', 0)).toEqual({ kept: 'a\nb', dropped: 0 });
});
