import { expect, test } from 'vitest';
import { parseArchiveQuery } from './query.ts';

test('the support desk lists archived sandboxes only, whatever the address says', () => {
  const { query, filters } = parseArchiveQuery(
    { q: 'march', state: 'active', since: '2026-03-01', until: '2026-03-31' },
    50,
  );
  expect(query).toEqual({
    state: 'archived',
    q: 'march',
    since: Date.UTC(2026, 2, 1) / 1000,
    until: Date.UTC(2026, 3, 1) / 1000 - 1,
    sort: 'updated',
    limit: 50,
  });
  expect(filters).toEqual({ q: 'march', since: '2026-03-01', until: '2026-03-31' });
});

test('a wrong filter finds nothing and is named', () => {
  const { query, complaints } = parseArchiveQuery({ label: 'nothing', since: 'spring' }, 50);
  expect(query).toBeNull();
  expect(Object.keys(complaints).sort()).toEqual(['label', 'since']);
});
