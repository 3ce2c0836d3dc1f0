import { expect, test } from 'vitest';
import type { z } from 'zod';
import { parse } from '../http/validate.ts';
import { createSchema, execSchema, listQuerySchema, patchSchema, startJobSchema } from './schema.ts';

/** What the contract says of an input that does not fit, as `path: message`. */
function messagesOf(schema: z.ZodType, input: unknown): string[] {
  try {
    parse(schema, input, 'body');
  } catch (error) {
    const { errors } = (error as { extra: { errors: { path: string; message: string }[] } }).extra;
    return errors.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

test.each([
  ['what is missing', execSchema, {}, ['command: is missing']],
  ['a wrong type', execSchema, { command: 5 }, ['command: must be a string, not a number']],
  ['null for a string', execSchema, { command: null }, ['command: must be a string, not null']],
  [
    'a string for a number',
    createSchema,
    { tenant: 't', idle_to_suspend_s: '9' },
    ['idle_to_suspend_s: must be a number, not a string'],
  ],
  ['a fraction', createSchema, { tenant: 't', idle_to_suspend_s: 1.5 }, ['idle_to_suspend_s: must be a whole number']],
  [
    'a number far too big',
    createSchema,
    { tenant: 't', idle_to_suspend_s: 1e30 },
    ['idle_to_suspend_s: must be at most 31449600'],
  ],
  [
    'a string for a yes',
    createSchema,
    { tenant: 't', keep_hot: 'yes' },
    ['keep_hot: must be true or false, not a string'],
  ],
  ['an array for a body', execSchema, [], [': must be an object, not an array']],
  ['an empty name', patchSchema, { name: ' ' }, ['name: must not be empty']],
  ['a long name', patchSchema, { name: 'x'.repeat(201) }, ['name: must have at most 200 characters']],
  [
    'a state there is not',
    listQuerySchema,
    { state: 'asleep' },
    ['state: must be one of created, active, suspended, frozen, archived, deleted'],
  ],
  ['a word for a number in a query', listQuerySchema, { since: 'yesterday' }, ['since: must be a number']],
  ['a limit of nothing', listQuerySchema, { limit: '0' }, ['limit: must be at least 1']],
  [
    'a wrong key of a record',
    patchSchema,
    { labels: { 'a b': 'c' } },
    ['labels.a b: must be 1 to 63 of letters, digits, . _ / and -'],
  ],
  ['a wrong value of a record', patchSchema, { labels: { a: 1 } }, ['labels.a: must be a string, not a number']],
  ['an unknown field', patchSchema, { id: 'x' }, ['id: is not known here']],
  [
    'a verb that is missing',
    startJobSchema,
    { ids: ['a'] },
    ['verb: is missing: must be one of resume, suspend, freeze, archive, revive, delete, label'],
  ],
])('%s is told in words of the contract', (_what, schema, input, words) => {
  expect(messagesOf(schema, input)).toEqual(words);
});
