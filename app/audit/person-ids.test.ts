/** What people read of the ledger: names, and never the id that the ledger has for a person. */
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import type { Event } from '#lib/contract/schema.ts';
import { EventDetails } from './event-details.tsx';
import { AuditFilters } from './filters.tsx';
import { actorChoices, parseAuditQuery } from './query.ts';

const line: Event = {
  seq: 1,
  time: 0,
  time_ms: 0,
  instance: null,
  tenant: null,
  type: 'person.changed',
  from: null,
  to: null,
  trigger: 'request',
  actor: 'user:ada-1',
  actor_name: 'Ada',
  via: 'console',
  source: null,
  took_ms: null,
  reason: 'user:eve-2: viewer → operator',
  error: null,
  request_id: null,
  address: null,
};
const names = new Map([['user:eve-2', 'Eve']]);

/** Its text without tags, so without the values of links and fields. */
const textOf = (element: ReactElement) => renderToStaticMarkup(element).replaceAll(/<[^>]*>/g, ' ');

test('a line and its details name people', () => {
  for (const text of [
    textOf(createElement(EventDetails, { event: line, names })),
    textOf(createElement(LedgerLines, { events: [line], names, rendered: 10 })),
  ]) {
    expect(text).toContain('Ada');
    expect(text).toMatch(/Eve: viewer → operator/);
    expect(text).not.toContain('user:');
  }
});

test('the filter by a person shows the name and keeps the id as its value', () => {
  const parsed = parseAuditQuery({ actor: 'user:ada-1' }, 50);
  expect(parsed.query?.actor).toBe('user:ada-1');
  const actors = actorChoices(names, [line], names, 'user:ada-1');
  const filters = createElement(AuditFilters, { parsed, actors, rendered: 10 });
  expect(renderToStaticMarkup(filters)).toMatch(/<option value="user:ada-1" selected="">Ada<\/option>/);
  expect(textOf(filters)).not.toContain('user:');
});
