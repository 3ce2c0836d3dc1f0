/**
 * The event stream's data in React Query's cache: rows, counts, the last lines. Each value carries the number of the
 * ledger's newest line when it was read, so that an older value never replaces a newer one, in whatever order they
 * arrive.
 */
import { hashKey, type QueryClient } from '@tanstack/react-query';
import type { Changes, Event, Instance, Job } from '#lib/contract/schema.ts';
import { finishedCount } from '../jobs/job-words.ts';

export interface CachedValue<T> {
  /** The ledger's newest line when it was read. */
  seq: number;
  /** When it arrived, epoch milliseconds of this browser. */
  at: number;
  value: T;
}

export type States = Changes['states'];
export type Counts = Pick<Changes, 'states' | 'faults' | 'warm'>;

/** Rows that no component shows yet: a page that is still loading may show them. */
const LOOSE_ROWS = 1000;
/** More than any page shows. */
const LINES = 100;

export const countsKey = ['counts'] as const;
export const linesKey = ['lines'] as const;
const looseKey = ['loose'] as const;

/** The cache key of one row. */
export function instanceKey(id: string): readonly ['instance', string] {
  return ['instance', id];
}

/** The cache key of the counts of one tenant. */
export function tenantKey(tenant: string): readonly ['tenant', string] {
  return ['tenant', tenant];
}

/** The cache key of one job. */
export function jobKey(id: string): readonly ['job', string] {
  return ['job', id];
}

/** The cache key of how many sandboxes of one batch have started. */
export function startedKey(requestId: string): readonly ['started', string] {
  return ['started', requestId];
}

/** The later of two states of a job: it only goes forward, and ends once. */
export function laterJob(kept: Job | undefined, next: Job): Job {
  if (kept === undefined || (kept.finished === null) !== (next.finished === null)) {
    return kept === undefined || kept.finished === null ? next : kept;
  }
  return finishedCount(next) >= finishedCount(kept) ? next : kept;
}

/** The newer of two values: by ledger line, the only order that all agree on, then by arrival. */
export function newer<T>(kept: CachedValue<T> | undefined, next: CachedValue<T>): CachedValue<T> {
  if (kept === undefined || next.seq > kept.seq) return next;
  return next.seq === kept.seq && next.at >= kept.at ? next : kept;
}

/** The value to show: what the server rendered as of line `asOf`, at `renderedMs`, or what arrived since. */
export function valueToShow<T>(kept: CachedValue<T> | undefined, rendered: T, asOf: number, renderedMs: number): T {
  return kept === undefined ? rendered : newer({ seq: asOf, at: renderedMs, value: rendered }, kept).value;
}

/** Merges lines, newest first, each once, at most `limit`. */
export function mergeLines(a: readonly Event[], b: readonly Event[], limit: number): Event[] {
  const bySeq = new Map([...a, ...b].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((x, y) => y.time_ms - x.time_ms || y.seq - x.seq).slice(0, limit);
}

/** Adds ledger lines that the stream delivered. */
export function addLines(queries: QueryClient, events: readonly Event[]): void {
  queries.setQueryData<Event[]>(linesKey, (lines = []) => mergeLines(lines, events, LINES));
}

function keep<T>(queries: QueryClient, key: readonly string[], next: CachedValue<T>): void {
  queries.setQueryData<CachedValue<T>>(key, (kept) => newer(kept, next));
}

/** Applies changes to every value they name. */
export function applyChanges(queries: QueryClient, changes: Changes, at: number): void {
  const { seq, rows, states, faults, warm, tenants, jobs, starts } = changes;
  const loose = looseRows(queries);
  for (const value of rows) {
    const next = { seq, at, value };
    const kept = newer(loose.get(value.id), next);
    loose.delete(value.id);
    loose.set(value.id, kept);
    if (queries.getQueryState(instanceKey(value.id)) !== undefined) keep(queries, instanceKey(value.id), next);
  }
  for (const id of loose.keys()) {
    if (loose.size <= LOOSE_ROWS) break;
    loose.delete(id);
  }
  keep<Counts>(queries, countsKey, { seq, at, value: { states, faults, warm } });
  for (const { tenant, states: value } of tenants) keep(queries, tenantKey(tenant), { seq, at, value });
  for (const job of jobs) queries.setQueryData<Job>(jobKey(job.id), (kept) => laterJob(kept, job));
  for (const { request_id, started } of starts) {
    queries.setQueryData<number>(startedKey(request_id), (kept = 0) => Math.max(kept, started));
  }
}

function looseRows(queries: QueryClient): Map<string, CachedValue<Instance>> {
  const found = queries.getQueryData<Map<string, CachedValue<Instance>>>(looseKey);
  if (found !== undefined) return found;
  const made = new Map<string, CachedValue<Instance>>();
  queries.setQueryDefaults(looseKey, { gcTime: Number.POSITIVE_INFINITY });
  queries.setQueryData(looseKey, made);
  return made;
}

/** A row that arrived before a component showed it. */
export function unshownInstance(queries: QueryClient, id: string): CachedValue<Instance> | undefined {
  return looseRows(queries).get(id);
}

/** Whether a component shows the row now. */
export function isShown(queries: QueryClient, id: string): boolean {
  const query = queries.getQueryCache().get(hashKey(instanceKey(id)));
  return query !== undefined && query.getObserversCount() > 0;
}

/**
 * Reads one row through the API. The value is as of the newest line seen before the request, or of `asOf`. Throws when
 * the answer is not a row.
 */
export async function readInstance(
  queries: QueryClient,
  id: string,
  asOf: number,
  signal: AbortSignal,
): Promise<CachedValue<Instance>> {
  const lines = queries.getQueryData<Event[]>(linesKey) ?? [];
  const seq = lines.reduce((newest, line) => Math.max(newest, line.seq), asOf);
  const answer = await fetch(`/api/instances/${encodeURIComponent(id)}`, {
    signal,
    headers: { accept: 'application/json' },
  });
  if (!answer.ok) throw new Error(`The row of ${id} could not be read: ${answer.status}.`);
  const next = { seq, at: Date.now(), value: (await answer.json()) as Instance };
  return newer(queries.getQueryData<CachedValue<Instance>>(instanceKey(id)), next);
}
