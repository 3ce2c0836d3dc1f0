import { expect, test } from 'vitest';
import { parseArchiveQuery } from './query.ts';

const NOW = Date.UTC(2026, 10, 23, 12) / 1000;

test('the support desk lists archived sandboxes only, whatever the address says', () => {
  const { query, filters } = parseArchiveQuery(
    { q: 'march', state: 'active', since: '2026-03-01', until: '2026-03-31' },
    50,
    NOW,
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
  const { query, complaints } = parseArchiveQuery({ label: 'nothing', since: 'spring' }, 50, NOW);
  expect(query).toBeNull();
  expect(Object.keys(complaints).sort()).toEqual(['label', 'since']);
});

test('the one box says several filters at once; a field beside it wins', () => {
  const box = { q: 'tenant:acme env:prod 22.11.2026 lighthouse' };
  const { query, filters } = parseArchiveQuery(box, 50, NOW);
  expect(query).toMatchObject({ tenant: 'acme', label: 'env:prod', q: 'lighthouse' });
  expect(query?.until).toBe(Date.UTC(2026, 10, 23) / 1000 - 1);
  expect(filters).toEqual(box);
  expect(parseArchiveQuery({ ...box, tenant: 'globex' }, 50, NOW).query?.tenant).toBe('globex');
  const wrong = parseArchiveQuery({ q: 'tenant:not/one' }, 50, NOW);
  expect([wrong.query, Object.keys(wrong.complaints)]).toEqual([null, ['q']]);
});
