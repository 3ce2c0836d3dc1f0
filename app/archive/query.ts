/** Parses the address of the support desk into the API's query. Pure. */
import { type ListQuery, listQuerySchema } from '#lib/contract/schema.ts';
import { type ParsedFilters, readFilters } from '../filter-parser.ts';

const FILTERS = ['q', 'tenant', 'label', 'since', 'until', 'sort'] as const;
export type ArchiveFilter = (typeof FILTERS)[number];

/** `values`: the address's parameters. `limit`: sandboxes on a page. */
export function parseArchiveQuery(
  values: Readonly<Record<string, string>>,
  limit: number,
): ParsedFilters<ArchiveFilter, ListQuery> {
  return readFilters(values, FILTERS, {
    schema: listQuerySchema,
    fixed: { state: 'archived', limit: String(limit) },
    noMoment: 'must be a day, like 2026-11-22',
  });
}
