/** The list of sandboxes as its address says it: filters, typed filter, sort. Pure. */
import { type ListQuery, listQuerySchema } from '#lib/contract/schema.ts';
import { parseTypedFilter, TERMS_ALONE, TYPED_PARAMETERS, typedFilterOf } from '#lib/contract/typed-filter.ts';
import { type ParsedFilters, readFilters } from '../filter-parser.ts';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';
import { LIST_PATH, TYPED } from './list-path.ts';

const FILTERS = [
  ...TYPED_PARAMETERS,
  ...(['host', 'since', 'until', 'due_since', 'due_until'] as const),
  ...(['sort', 'limit'] as const),
] as const;
type SandboxFilter = (typeof FILTERS)[number];

/** Parameters that choose no rows. */
const VIEW: readonly string[] = ['sort', 'limit'];

export interface ListAddress extends ParsedFilters<SandboxFilter, ListQuery> {
  /** What the box shows. */
  typed: string;
  /** What is wrong with what was typed. */
  typedComplaints: string[];
  /** The parameters to redirect to, when a typed filter was sent that is right; else null. */
  meant: Record<string, string> | null;
}

/**
 * Parses the address. A typed filter replaces every parameter that it could say, and keeps the others. A term that
 * stands in the address as it is typed, such as `idle=>1m`, is a typed filter too.
 */
export function parseListAddress(values: Readonly<Record<string, string>>, limit: number): ListAddress {
  const { typed, others } = withTerms(values);
  const parsed = readFilters(others, FILTERS, { schema: listQuerySchema, fixed: { limit: String(limit) } });
  if (typed === undefined) return { ...parsed, typed: typedFilterOf(parsed.filters), typedComplaints: [], meant: null };
  const { parameters, complaints } = parseTypedFilter(typed);
  if (complaints.length > 0) return { ...parsed, query: null, typed, typedComplaints: complaints, meant: null };
  return { ...parsed, typed, typedComplaints: [], meant: { ...untyped(parsed.filters), ...parameters } };
}

/**
 * An address that has whole terms of a typed filter for parameters, such as `?idle:>1m&label:env=prod`, as one with
 * that filter; null for one without. No parameter of ours has a colon: dropped, such a term would show everything.
 */
export function addressOfTerms(search: SearchParams): string | null {
  const names = Object.keys(search).filter((name) => name.includes(':'));
  if (names.length === 0) return null;
  const values = singleValues(search);
  const terms = names.map((name) => (values[name] === undefined ? name : `${name}=${values[name]}`));
  const others = Object.fromEntries(Object.entries(values).filter(([name]) => !name.includes(':')));
  const typed = [others[TYPED] ?? typedFilterOf(others), ...terms].join(' ').trim();
  return addressWith(LIST_PATH, { ...others, [TYPED]: typed });
}

/** The typed filter of an address with the terms that stand alone, and the other parameters. */
function withTerms(values: Readonly<Record<string, string>>): { typed?: string; others: Record<string, string> } {
  const { [TYPED]: sent, ...others } = values;
  const terms = Object.entries(others).filter(([name]) => TERMS_ALONE.includes(name));
  if (terms.length === 0) return { ...(sent === undefined ? {} : { typed: sent }), others };
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !TERMS_ALONE.includes(name)));
  const known = sent ?? typedFilterOf(rest);
  return { typed: [known, ...terms.map(([name, value]) => `${name}:${value}`)].join(' ').trim(), others: rest };
}

/** The parameters that a typed filter has no words for: they stay when it changes. */
export function untyped(filters: Readonly<Record<string, string>>): Record<string, string> {
  const typed: readonly string[] = TYPED_PARAMETERS;
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !typed.includes(name)));
}

/** The parameters that choose rows. */
export function narrowing(filters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !VIEW.includes(name)));
}
