/** What the address of the support desk asks for, as the API takes it. Pure. */
import { type ListQuery, listQuerySchema } from '#lib/api/schema.ts';
import { momentOf } from '../moments.ts';

const FILTERS = ['q', 'tenant', 'label', 'since', 'until', 'sort'] as const;
export type Filter = (typeof FILTERS)[number];

export interface Asked {
  /** Null when something is wrong: half a filter would show sandboxes that nobody asked for. */
  query: ListQuery | null;
  complaints: Partial<Record<Filter, string>>;
  /** The filters alone, as they stand in the address. */
  filters: Record<string, string>;
}

const EDGES = { since: 'first', until: 'last' } as const;

/** `values`: the parameters of the address. `limit`: sandboxes on a page. */
export function readAsked(values: Readonly<Record<string, string>>, limit: number): Asked {
  const complaints: Asked['complaints'] = {};
  const filters: Record<string, string> = {};
  const query: Record<string, string> = { state: 'archived', limit: String(limit) };
  for (const name of FILTERS) {
    const value = values[name];
    if (value === undefined) continue;
    filters[name] = value;
    query[name] = value;
    if (name !== 'since' && name !== 'until') continue;
    const moment = momentOf(value, EDGES[name]);
    if (moment === null) complaints[name] = 'must be a day, like 2026-11-22';
    else query[name] = String(moment);
  }
  if (values.cursor !== undefined) query.cursor = values.cursor;
  const parsed = listQuerySchema.safeParse(query);
  for (const issue of parsed.error?.issues ?? []) {
    const name = FILTERS.find((known) => known === issue.path[0]);
    if (name !== undefined) complaints[name] ??= issue.message;
  }
  const fits = parsed.success && Object.keys(complaints).length === 0;
  return { query: fits ? parsed.data : null, complaints, filters };
}
