import { expect, test } from 'vitest';
import { rowDifference } from './row-difference.ts';

test('rows are added, removed, and changed where the first column is the same', () => {
  const before = [
    [1, 'ada', 90],
    [2, 'bob', 80],
    [3, 'cy', null],
  ];
  const after = [
    [1, 'ada', 95],
    [3, 'cy', null],
    [4, 'dot', 70],
  ];
  expect(rowDifference(before, after)).toEqual([
    { kind: 'changed', before: [1, 'ada', 90], row: [1, 'ada', 95], differs: [false, false, true] },
    { kind: 'added', row: [4, 'dot', 70] },
    { kind: 'removed', row: [2, 'bob', 80] },
  ]);
  expect(rowDifference(before, before)).toEqual([]);
});

test('equal rows are counted, and rows that share their first column are never paired', () => {
  expect(rowDifference([['a'], ['a']], [['a']])).toEqual([{ kind: 'removed', row: ['a'] }]);
  const [added, alsoAdded, removed] = rowDifference(
    [['x', 1]],
    [
      ['x', 2],
      ['x', 3],
    ],
  );
  expect([added, alsoAdded, removed].map((change) => change?.kind)).toEqual(['added', 'added', 'removed']);
});

test('a number is not the text that reads the same', () => {
  expect(rowDifference([[1, 2]], [[1, '2']])).toMatchObject([{ kind: 'changed', differs: [false, true] }]);
});
