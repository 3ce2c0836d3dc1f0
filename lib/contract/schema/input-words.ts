/**
 * What is wrong with an input, in the contract's own words: short, of the input, never of the library that checks it.
 * Set for every schema that has no words of its own. Safe for the browser.
 */
import { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** What a type is called by people who write JSON. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  return KINDS[typeof input] ?? typeof input;
}

function ofType(expected: string, input: unknown): string {
  if (input === undefined) return 'is missing';
  const wanted = KINDS[expected] ?? `a ${expected}`;
  // A word in a query arrives as a number that is none, and a fraction is a number too: what it is not says enough.
  const isNumber = typeof input === 'number' && (expected === 'number' || expected === 'int');
  return isNumber ? `must be ${wanted}` : `must be ${wanted}, not ${kindOf(input)}`;
}

function many(count: number | bigint, one: string): string {
  return `${count} ${one}${Number(count) === 1 ? '' : 's'}`;
}

function bound(origin: string, least: boolean, limit: number | bigint): string {
  const edge = least ? 'at least' : 'at most';
  if (origin === 'string')
    return least && Number(limit) === 1 ? 'must not be empty' : `must have ${edge} ${many(limit, 'character')}`;
  if (origin === 'array' || origin === 'set') return `must have ${edge} ${many(limit, 'item')}`;
  return `must be ${edge} ${limit}`;
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`;
}

/** The words for an issue; undefined leaves them to the library. */
function inputWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return ofType(issue.expected, issue.input);
    case 'too_small':
      return bound(issue.origin, true, issue.minimum);
    case 'too_big':
      return bound(issue.origin, false, issue.maximum);
    case 'invalid_value':
      return issue.input === undefined ? `is missing: ${oneOf(issue.values)}` : oneOf(issue.values);
    case 'invalid_key':
      return issue.issues[0]?.message === undefined ? 'is no name for this' : `${issue.issues[0].message}`;
    case 'invalid_format':
      return issue.format === 'email' ? 'must be an e-mail address' : undefined;
    case 'invalid_union':
      return 'has none of the forms that are allowed here';
    default:
      return undefined;
  }
}

z.config({ customError: inputWords });
