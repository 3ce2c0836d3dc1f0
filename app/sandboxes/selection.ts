/**
 * A selection in the list of sandboxes, as the addresses of its pages carry it: ids or a filter, a verb, labels. Pure.
 */
import { labelChanges } from '#components/jobs/job-words.ts';
import { type StartJobInput, startJobSchema } from '#lib/contract/schema.ts';
import { JOB_VERBS, type JobVerb } from '#lib/lifecycle/job-verbs.ts';
import type { SearchParams } from '../search-params.ts';

/** The filters that a job can select by. */
const FILTER_NAMES = [
  ...['tenant', 'state', 'thermal', 'fault', 'name', 'label', 'host', 'q', 'pending'],
  ...['since', 'until', 'due_since', 'due_until', 'idle_over', 'idle_under'],
];
/** Filters that are numbers: moments in epoch seconds, and lengths of time in seconds. */
const NUMBERS: readonly string[] = ['since', 'until', 'due_since', 'due_until', 'idle_over', 'idle_under'];

export interface Selection {
  verb: JobVerb;
  /** The selected sandboxes: by id, or everything that matches a filter. */
  of: { ids: string[] } | { filter: Record<string, string> };
  /** As typed. */
  labels: string;
}

function every(search: SearchParams, name: string): string[] {
  const value = search[name];
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).filter((one) => one !== '');
}

/** The job filters among a page's parameters. */
export function listFilters(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(FILTER_NAMES.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}

/** Parses the selection of an address; null without a known verb. Without `all` and without ids it is empty. */
export function parseSelection(search: SearchParams): Selection | null {
  const verb = JOB_VERBS.find((known) => known === every(search, 'verb')[0]);
  if (verb === undefined) return null;
  const filter = Object.fromEntries(FILTER_NAMES.map((name) => [name, every(search, name)[0]?.trim() ?? '']));
  const of =
    every(search, 'all')[0] === '1' ? { filter: listFilters(filter) } : { ids: [...new Set(every(search, 'id'))] };
  return { verb, of, labels: every(search, 'labels')[0] ?? '' };
}

/** A filter as the engine takes it. What should be a number and is not stays text, for the engine to refuse. */
function filterOf(filter: Record<string, string>): Record<string, unknown> {
  const values = Object.entries(filter).map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value]);
  return Object.fromEntries(values);
}

/** The job that a selection starts, or the first complaint about it. */
export function selectionJobInput({ verb, of, labels }: Selection): { input: StartJobInput } | { wrong: string } {
  const parsed = startJobSchema.safeParse({
    verb,
    ...('ids' in of ? { ids: of.ids } : { filter: filterOf(of.filter) }),
    ...(verb === 'label' ? { labels: labelChanges(labels) } : {}),
  });
  if (parsed.success) return { input: parsed.data };
  const [issue] = parsed.error.issues;
  // For a wrong key the message lies one level deeper.
  const message = issue?.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue?.message;
  return { wrong: `${issue?.path.join('.') || 'The choice'}: ${message ?? 'is not right'}` };
}
