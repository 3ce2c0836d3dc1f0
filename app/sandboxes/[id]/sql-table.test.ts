import { expect, test } from 'vitest';
import { sqlTable } from './sql-table.ts';

const kindsOf = (row: unknown[]) => sqlTable({ columns: [], rows: [row] }).rows[0]?.cells.map(({ kind }) => kind);
const textsOf = (row: unknown[]) => sqlTable({ columns: [], rows: [row] }).rows[0]?.cells.map(({ text }) => text);

test('null, numbers, texts and bytes look different', () => {
  const bytes = (count: number) => ({ base64: Buffer.alloc(count).toString('base64') });
  expect(kindsOf([null, 1.5, 'text', bytes(3)])).toEqual(['quiet', 'number', 'text', 'quiet']);
  expect(textsOf([null, 1.5, 'text'])).toEqual(['NULL', '1.5', 'text']);
  expect(textsOf([bytes(0), bytes(1), bytes(2), bytes(3000)])).toEqual([
    '0 bytes that are no text',
    '1 bytes that are no text',
    '2 bytes that are no text',
    '3,000 bytes that are no text',
  ]);
});

test('a long text is cut, with its length', () => {
  expect(textsOf(['x'.repeat(400)])).toEqual(['x'.repeat(400)]);
  expect(textsOf(['x'.repeat(2000)])).toEqual([`${'x'.repeat(400)}… (2,000 characters)`]);
});

test('columns of one name stay separate, and only a column of numbers alone is numeric', () => {
  const rows = [
    [1, null, 1],
    [null, null, 'x'],
  ];
  expect(sqlTable({ columns: ['a', 'a', 'b'], rows }).columns).toEqual([
    { key: 0, name: 'a', isNumeric: true },
    { key: 1, name: 'a', isNumeric: false },
    { key: 2, name: 'b', isNumeric: false },
  ]);
});
