/**
 * What was chosen in the list, as the addresses of the pages about it say it: ids or a filter, a verb, labels. Pure.
 */
import { labelChanges } from '#components/jobs/job-words.ts';
import { type StartJobInput, startJobSchema } from '#lib/contract/schema.ts';
import { JOB_VERBS, type JobVerb } from '#lib/lifecycle/verb-plan.ts';
import type { SearchParams } from '../search-params.ts';

/** The filters of the list that a job can be about. */
const FILTER_NAMES = [
  ...['tenant', 'state', 'thermal', 'fault', 'name', 'label', 'q', 'pending'],
  ...['since', 'until', 'due_since', 'due_until'],
];
/** Those that are moments, in epoch seconds. */
const MOMENTS: readonly string[] = ['since', 'until', 'due_since', 'due_until'];

export interface Selection {
  verb: JobVerb;
  /** What to do it to: those that are named, or everything that matches. */
  of: { ids: string[] } | { filter: Record<string, string> };
  /** As it was typed. */
  labels: string;
}

function every(search: SearchParams, name: string): string[] {
  const value = search[name];
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).filter((one) => one !== '');
}

/** The filters among the parameters of a page. */
export function listFilters(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(FILTER_NAMES.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}

/** What an address chooses; null when it names no verb that there is. Without `all`, nothing may be chosen. */
export function parseSelection(search: SearchParams): Selection | null {
  const verb = JOB_VERBS.find((known) => known === every(search, 'verb')[0]);
  if (verb === undefined) return null;
  const filter = Object.fromEntries(FILTER_NAMES.map((name) => [name, every(search, name)[0]?.trim() ?? '']));
  const of =
    every(search, 'all')[0] === '1' ? { filter: listFilters(filter) } : { ids: [...new Set(every(search, 'id'))] };
  return { verb, of, labels: every(search, 'labels')[0] ?? '' };
}

/** A filter as the engine takes it: what is no number where one should be is left for it to refuse. */
function filterOf(filter: Record<string, string>): Record<string, unknown> {
  const values = Object.entries(filter).map(([name, value]) => [name, MOMENTS.includes(name) ? Number(value) : value]);
  return Object.fromEntries(values);
}

/** What a choice asks of the engine, or the first thing that is wrong with it. */
export function selectionJobInput({ verb, of, labels }: Selection): { input: StartJobInput } | { wrong: string } {
  const parsed = startJobSchema.safeParse({
    verb,
    ...('ids' in of ? { ids: of.ids } : { filter: filterOf(of.filter) }),
    ...(verb === 'label' ? { labels: labelChanges(labels) } : {}),
  });
  if (parsed.success) return { input: parsed.data };
  const [issue] = parsed.error.issues;
  // A wrong key hides what is wrong with it one level down.
  const message = issue?.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue?.message;
  return { wrong: `${issue?.path.join('.') || 'The choice'}: ${message ?? 'is not right'}` };
}
