/** Parses the address of the audit page into the API's query. Pure. */
import { type EventsQuery, type ExportQuery, eventsQuerySchema } from '#lib/contract/schema.ts';
import { type ParsedFilters, readFilters } from '../filter-parser.ts';

const FILTERS = ['tenant', 'instance', 'type', 'actor', 'trigger', 'since', 'until'] as const;
export type AuditFilter = (typeof FILTERS)[number];

/** `values`: the address's parameters. `limit`: lines on a page. */
export function parseAuditQuery(
  values: Readonly<Record<string, string>>,
  limit: number,
): ParsedFilters<AuditFilter, EventsQuery> {
  return readFilters(values, FILTERS, {
    schema: eventsQuerySchema,
    fixed: { limit: String(limit) },
    noMoment: 'must be a day or a minute, like 2026-11-22T05:30',
  });
}

/** The API's export of every line that a query matches. */
export function exportAddress(query: EventsQuery, format: ExportQuery['format']): string {
  const search = new URLSearchParams({ format });
  for (const name of FILTERS) {
    const value = query[name];
    if (value !== undefined) search.set(name, String(value));
  }
  return `/api/events/export?${search}`;
}
