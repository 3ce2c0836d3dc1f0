/** Parses the address of the support desk into the API's query. Pure. */
import { type ListQuery, listQuerySchema } from '#lib/contract/schema.ts';
import { type ParsedFilters, readFilters } from '../filter-parser.ts';
import { type DeskReading, readDeskText } from './desk-text.ts';

const FILTERS = ['q', 'tenant', 'label', 'since', 'until', 'sort'] as const;
export type ArchiveFilter = (typeof FILTERS)[number];

export interface ParsedDesk extends ParsedFilters<ArchiveFilter, ListQuery> {
  /** How the one box was read. */
  reading: DeskReading;
}

/**
 * `values`: the address's parameters; what they say wins over what the one box says. `limit`: sandboxes on a page.
 * `now`: epoch seconds.
 */
export function parseArchiveQuery(values: Readonly<Record<string, string>>, limit: number, now: number): ParsedDesk {
  const { q: text, ...typed } = values;
  const reading = readDeskText(text ?? '', now);
  const parsed = readFilters({ ...reading, ...typed }, FILTERS, {
    schema: listQuerySchema,
    fixed: { state: 'archived', limit: String(limit) },
    noMoment: 'must be a day, like 2026-11-22',
  });
  const filters = Object.fromEntries(
    FILTERS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  // A complaint about something that is in the box stands at the box.
  const complaints = { ...parsed.complaints };
  for (const name of ['tenant', 'label', 'since', 'until'] as const) {
    if (complaints[name] === undefined || values[name] !== undefined) continue;
    complaints.q ??= complaints[name];
    delete complaints[name];
  }
  return { query: parsed.query, complaints, filters, reading };
}
