import { expect, test } from 'vitest';
import { exportAddress, parseAuditQuery } from './query.ts';

test('the address becomes the API’s query', () => {
  const { query, complaints, filters } = parseAuditQuery(
    { tenant: 'acme', type: 'transition', since: '2026-11-22', x: '1' },
    50,
  );
  expect(query).toEqual({ tenant: 'acme', type: 'transition', since: Date.UTC(2026, 10, 22) / 1000, limit: 50 });
  expect(complaints).toEqual({});
  expect(filters).toEqual({ tenant: 'acme', type: 'transition', since: '2026-11-22' });
});

test('a wrong filter makes no query and is named', () => {
  const { query, complaints } = parseAuditQuery({ tenant: 'No Tenant', until: 'tomorrow', trigger: 'whim' }, 50);
  expect(query).toBeNull();
  expect(Object.keys(complaints).sort()).toEqual(['tenant', 'trigger', 'until']);
});

test('an export uses the same filters, to the second, and without the page', () => {
  const { query } = parseAuditQuery({ actor: 'key:admin', until: '2026-11-22T05:30', cursor: 'abc' }, 50);
  expect(query).not.toBeNull();
  if (query === null) return;
  const { searchParams } = new URL(exportAddress(query, 'csv'), 'http://dock');
  const until = Date.UTC(2026, 10, 22, 5, 30, 59) / 1000;
  expect(Object.fromEntries(searchParams)).toEqual({ format: 'csv', actor: 'key:admin', until: String(until) });
});
