/** Parses the filters of a list's address into the API's query. Pure. */
import type { z } from 'zod';
import { parseMoment } from '#components/ui/moments.ts';

export interface ParsedFilters<F extends string, Q> {
  /** Null when a filter is wrong: applying the others would show something that nobody asked for. */
  query: Q | null;
  complaints: Partial<Record<F, string>>;
  /** The filters, as they stand in the address. */
  filters: Record<string, string>;
}

const EDGES: Readonly<Record<string, 'first' | 'last' | undefined>> = { since: 'first', until: 'last' };

/**
 * Parses `values`, the address's parameters; those that are not `known` are ignored. `fixed`: values that always apply.
 * `noMoment`: the complaint about a `since` or `until` that is not a moment.
 */
export function readFilters<F extends string, Q>(
  values: Readonly<Record<string, string>>,
  known: readonly F[],
  options: { schema: z.ZodType<Q>; fixed: Readonly<Record<string, string>>; noMoment?: string },
): ParsedFilters<F, Q> {
  const complaints: ParsedFilters<F, Q>['complaints'] = {};
  const filters: Record<string, string> = {};
  const query: Record<string, string> = { ...options.fixed };
  // In the order of the address, so that the next page's has it too.
  for (const [given, value] of Object.entries(values)) {
    const name = known.find((filter) => filter === given);
    if (name === undefined) continue;
    filters[name] = value;
    query[name] = value;
    const edge = EDGES[name];
    if (edge === undefined) continue;
    const moment = parseMoment(value, edge);
    if (moment === null) complaints[name] = options.noMoment ?? 'must be a day or a minute, like 2026-11-22T05:30';
    else query[name] = String(moment);
  }
  if (values.cursor !== undefined) query.cursor = values.cursor;
  const parsed = options.schema.safeParse(query);
  for (const issue of parsed.error?.issues ?? []) {
    const name = known.find((filter) => filter === issue.path[0]);
    if (name !== undefined) complaints[name] ??= issue.message;
  }
  const fits = parsed.success && Object.keys(complaints).length === 0;
  return { query: fits ? parsed.data : null, complaints, filters };
}
