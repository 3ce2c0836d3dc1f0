/** Parses the address of the audit page into the API's query. Pure. */
import type { MarkedCall } from '#components/calls/call-mark.ts';
import { type ActorNames, nameOfActor } from '#components/ledger/event-words.ts';
import { type Event, type EventsQuery, type ExportQuery, eventsQuerySchema } from '#lib/contract/schema.ts';
import { type ParsedFilters, readFilters } from '../filter-parser.ts';

const FILTERS = ['tenant', 'instance', 'type', 'actor', 'trigger', 'request_id', 'since', 'until'] as const;
export type AuditFilter = (typeof FILTERS)[number];

/** `values`: the address's parameters. `limit`: lines on a page. */
export function parseAuditQuery(
  values: Readonly<Record<string, string>>,
  limit: number,
): ParsedFilters<AuditFilter, EventsQuery> {
  return readFilters(values, FILTERS, {
    schema: eventsQuerySchema,
    fixed: { limit: String(limit) },
  });
}

/**
 * Whom the lines may be filtered by, in the order of their names: those who are `listed`, those of the `lines` shown,
 * and the one that is `chosen`. `names`: what to call them, the visitor included.
 */
export function actorChoices(
  listed: ActorNames,
  lines: readonly Pick<Event, 'actor' | 'actor_name'>[],
  names: ActorNames,
  chosen: string | undefined,
): [actor: string, name: string][] {
  const choices = new Map([['key:admin', nameOfActor('key:admin')], ...listed]);
  for (const { actor, actor_name } of lines) {
    if (!choices.has(actor)) choices.set(actor, nameOfActor(actor, names, actor_name));
  }
  if (chosen !== undefined && !choices.has(chosen)) choices.set(chosen, nameOfActor(chosen, names));
  for (const [actor, name] of names) if (name === 'You' && choices.has(actor)) choices.set(actor, name);
  return [...choices].sort(([, one], [, other]) => one.localeCompare(other, 'en'));
}

function exportQuery(query: EventsQuery, format: ExportQuery['format']): Record<string, string> {
  const given = FILTERS.flatMap((name) => (query[name] === undefined ? [] : [[name, String(query[name])]]));
  return { format, ...Object.fromEntries(given) };
}

/** The API's export of every line that a query matches. */
export function exportAddress(query: EventsQuery, format: ExportQuery['format']): string {
  return `/api/events/export?${new URLSearchParams(exportQuery(query, format))}`;
}

/** The same as a call to show. */
export function exportCall(query: EventsQuery, format: ExportQuery['format']): MarkedCall {
  return { name: 'exportEvents', query: exportQuery(query, format) };
}
