import { expect, test } from 'vitest';
import { actorChoices, exportAddress, parseAuditQuery } from './query.ts';

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

test('the lines of a request are shown and exported', () => {
  const { query, filters } = parseAuditQuery({ request_id: 'req-7' }, 50);
  expect([query?.request_id, filters]).toEqual(['req-7', { request_id: 'req-7' }]);
  expect(query && exportAddress(query, 'jsonl')).toBe('/api/events/export?format=jsonl&request_id=req-7');
});

test('an export uses the same filters, to the second, and without the page', () => {
  const { query } = parseAuditQuery({ actor: 'key:admin', until: '2026-11-22T05:30', cursor: 'abc' }, 50);
  expect(query).not.toBeNull();
  if (query === null) return;
  const { searchParams } = new URL(exportAddress(query, 'csv'), 'http://dock');
  const until = Date.UTC(2026, 10, 22, 5, 30, 59) / 1000;
  expect(Object.fromEntries(searchParams)).toEqual({ format: 'csv', actor: 'key:admin', until: String(until) });
});

test('people are chosen by their names, the visitor as You, and no choice shows a person’s id', () => {
  const listed = new Map([
    ['user:a1', 'Ada'],
    ['user:e2', 'Eve'],
  ]);
  const lines = [
    { actor: 'user:e2', actor_name: 'Eve' },
    { actor: 'user:n3', actor_name: 'Nora' },
    { actor: 'ladder', actor_name: null },
  ];
  const choices = actorChoices(listed, lines, new Map([['user:a1', 'You']]), 'user:gone');
  expect(Object.fromEntries(choices)).toEqual({
    'key:admin': 'The admin key',
    'user:a1': 'You',
    'user:e2': 'Eve',
    'user:n3': 'Nora',
    ladder: 'ladder',
    'user:gone': 'A person',
  });
  expect(choices.map(([, name]) => name).join(' ')).not.toContain('user:');
  expect(actorChoices(new Map(), [], new Map(), undefined)).toEqual([['key:admin', 'The admin key']]);
});
