import { expect, test } from 'vitest';
import { arithmeticProblem } from './arithmetic-errors.ts';

/** What bash 5.2 says, behind `bash: line 1: let: `. */
const REFUSED: readonly [expression: string, said: string][] = [
  ['08', '08: value too great for base (error token is "08")'],
  ['2024-01-08', '2024-01-08: value too great for base (error token is "08")'],
  ['1+', '1+: syntax error: operand expected (error token is "+")'],
  ['1 2', '1 2: syntax error in expression (error token is "2")'],
  ['1.5', '1.5: syntax error: invalid arithmetic operator (error token is ".5")'],
  ['1?2', '1?2: `:\' expected for conditional expression (error token is "2")'],
  ['1=2', '1=2: attempted assignment to non-variable (error token is "=2")'],
  ['x=', 'x=: syntax error: operand expected (error token is "=")'],
  ['1++', '1++: syntax error: operand expected (error token is "+")'],
  ['(1', '(1: missing `)\' (error token is "1")'],
  ['99#z', '99#z: invalid arithmetic base (error token is "99#z")'],
  ['2#3+1', '2#3: value too great for base (error token is "2#3")'],
  ['2#', '2#: invalid integer constant (error token is "2#")'],
  ['1$', '1$: syntax error: invalid arithmetic operator (error token is "$")'],
  ['@', '@: syntax error: operand expected (error token is "@")'],
  ['1 +* 2', '1 +* 2: syntax error: operand expected (error token is "* 2")'],
];
const TAKEN = [
  '',
  '0x',
  'a[1]++ + --b',
  '(a=1, b=2) ? a : b',
  'm[any thing]',
  '- -1 ** 2',
  'x<<=2',
  '!x&&~y||0',
  '16#fF+64#@_',
  'a b$c',
];

test('an expression that bash refuses has bash’s words, and what it takes has none', () => {
  expect(REFUSED.map(([expression]) => [expression, arithmeticProblem(expression)?.message])).toEqual(REFUSED);
  expect(TAKEN.filter((expression) => arithmeticProblem(expression) !== null)).toEqual([]);
});
