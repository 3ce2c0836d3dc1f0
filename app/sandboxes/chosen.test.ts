import { expect, test } from 'vitest';
import { chosenIn, jobInputOf } from './chosen.ts';

test('ids that are ticked are chosen once each, and the filter of the page is left out', () => {
  expect(chosenIn({ verb: 'suspend', id: ['a', 'b', 'a'], tenant: 'acme' })).toEqual({
    verb: 'suspend',
    of: { ids: ['a', 'b'] },
    labels: '',
  });
});

test('everything that matches is the filter, whatever is ticked', () => {
  const chosen = chosenIn({ verb: 'freeze', id: 'a', all: '1', tenant: ' acme ', state: '', sort: 'name' });
  expect(chosen?.of).toEqual({ filter: { tenant: 'acme' } });
  expect(chosen && jobInputOf(chosen)).toEqual({ input: { verb: 'freeze', filter: { tenant: 'acme' } } });
});

test('a verb that there is not chooses nothing, and a wrong choice says what is wrong', () => {
  expect(chosenIn({ verb: 'explode', id: 'a' })).toBeNull();
  expect(jobInputOf({ verb: 'suspend', of: { ids: [] }, labels: '' })).toHaveProperty('wrong');
  expect(jobInputOf({ verb: 'suspend', of: { filter: { state: 'gone' } }, labels: '' })).toHaveProperty('wrong');
  expect(jobInputOf({ verb: 'label', of: { ids: ['a'] }, labels: 'env: prod\nold:' })).toEqual({
    input: { verb: 'label', ids: ['a'], labels: { env: 'prod', old: null } },
  });
});
