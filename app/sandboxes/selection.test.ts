import { expect, test } from 'vitest';
import { jobFilterSchema } from '#lib/contract/schema.ts';
import { listFilters, parseSelection, selectionJobInput } from './selection.ts';

test('ticked ids are selected once each, and the filter of the page is ignored', () => {
  expect(parseSelection({ verb: 'suspend', id: ['a', 'b', 'a'], tenant: 'acme' })).toEqual({
    verb: 'suspend',
    of: { ids: ['a', 'b'] },
    labels: '',
  });
});

test('everything that matches is selected by the filter, whatever is ticked', () => {
  const chosen = parseSelection({ verb: 'freeze', id: 'a', all: '1', tenant: ' acme ', state: '', sort: 'name' });
  expect(chosen?.of).toEqual({ filter: { tenant: 'acme' } });
  expect(chosen && selectionJobInput(chosen)).toEqual({ input: { verb: 'freeze', filter: { tenant: 'acme' } } });
});

test('every filter of the page narrows the selection, with moments as numbers', () => {
  const search = { verb: 'resume', all: '1', pending: 'stuck', due_until: '1795339000', since: '5', thermal: 'cold' };
  const chosen = parseSelection(search);
  expect(chosen && selectionJobInput(chosen)).toEqual({
    input: { verb: 'resume', filter: { thermal: 'cold', pending: 'stuck', since: 5, due_until: 1_795_339_000 } },
  });
  const known = Object.keys(jobFilterSchema.shape);
  expect(Object.keys(listFilters(Object.fromEntries(known.map((name) => [name, 'x'])))).toSorted()).toEqual(
    known.toSorted(),
  );
  expect(selectionJobInput({ verb: 'resume', of: { filter: { since: 'soon' } }, labels: '' })).toHaveProperty('wrong');
});

test('an unknown verb selects nothing, and an invalid selection names the error', () => {
  expect(parseSelection({ verb: 'explode', id: 'a' })).toBeNull();
  expect(selectionJobInput({ verb: 'suspend', of: { ids: [] }, labels: '' })).toHaveProperty('wrong');
  expect(selectionJobInput({ verb: 'suspend', of: { filter: { state: 'gone' } }, labels: '' })).toHaveProperty('wrong');
  expect(selectionJobInput({ verb: 'label', of: { ids: ['a'] }, labels: 'env: prod\nold:' })).toEqual({
    input: { verb: 'label', ids: ['a'], labels: { env: 'prod', old: null } },
  });
});
