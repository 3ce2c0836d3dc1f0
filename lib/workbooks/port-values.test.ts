import { expect, test } from 'vitest';
import { portProblem } from './port-values.ts';

const port = (name: string, type: string, optional = false) => ({ name, type, optional });
const problem = (type: string, value: unknown) => portProblem([port('a', type)], { a: value }, { strict: true });

test.each([
  ['string', 'x', 1],
  ['number', 1.5, '1'],
  ['integer', 3, 1.5],
  ['boolean', false, 0],
  ['object', {}, []],
  ['array', [1], {}],
  ['bytes', 'AAEC', 'AAE'],
  ['string[]', ['x'], ['x', 1]],
  ['any[]', [1, null], {}],
])('%s takes what it names and nothing else', (type, right, wrong) => {
  expect(problem(type, right)).toBeNull();
  expect(problem(type, wrong)).toContain(' must be ');
  expect(problem(type, null)).toContain('null');
});

test('any takes anything; a type that is no word takes nothing, not even one of Object', () => {
  for (const value of [null, 1, 'x', [], {}]) expect(problem('any', value)).toBeNull();
  for (const type of ['constructor', '__proto__', 'text']) expect(problem(type, 'x')).toContain(' must be ');
});

test('names must be there unless optional, and inputs have no others; inherited ones do not count', () => {
  const ports = [port('a', 'string'), port('b', 'string', true)];
  expect(portProblem(ports, { a: 'x' }, { strict: true })).toBeNull();
  expect(portProblem(ports, { a: 'x', b: null }, { strict: true })).toBeNull();
  expect(portProblem(ports, { b: 'x' }, { strict: true })).toBe('a is missing.');
  expect(portProblem(ports, { a: 'x', c: 1 }, { strict: true })).toBe('"c" is not declared.');
  expect(portProblem(ports, { a: 'x', c: 1 }, { strict: false })).toBeNull();
  expect(portProblem([port('toString', 'any')], {}, { strict: true })).toBe('toString is missing.');
  expect(portProblem(ports, ['a'], { strict: true })).toContain('an object');
  expect(portProblem([], 7, { strict: true })).toBeNull();
});
