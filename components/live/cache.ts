/**
 * The event stream's data in the cache of the page: rows, counts, the last lines. Each value carries the number of the
 * ledger's newest line when it was read, so that an older value never replaces a newer one, in whatever order they
 * arrive.
 */
import type { Changes, Event, Instance, Job } from '#lib/contract/schema.ts';
import { finishedCount } from '../jobs/job-words.ts';
import type { LiveCache } from './live-cache.ts';

export interface CachedValue<T> {
  /** The ledger's newest line when it was read. */
  seq: number;
  /** When it arrived, epoch milliseconds of this browser. */
  at: number;
  value: T;
}

export type States = Changes['states'];
export type Counts = Pick<Changes, 'states' | 'faults' | 'warm'>;

/** More than any page shows. */
const LINES = 100;

export const countsKey = 'counts';
export const linesKey = 'lines';

/** The cache key of one row. */
export function instanceKey(id: string): string {
  return `instance ${id}`;
}

/** The cache key of the counts of one tenant. */
export function tenantKey(tenant: string): string {
  return `tenant ${tenant}`;
}

/** The cache key of one job. */
export function jobKey(id: string): string {
  return `job ${id}`;
}

/** The cache key of how many sandboxes of one batch have started. */
export function startedKey(requestId: string): string {
  return `started ${requestId}`;
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
export function addLines(cache: LiveCache, events: readonly Event[]): void {
  cache.change<Event[]>(linesKey, (lines = []) => mergeLines(lines, events, LINES));
}

function keep<T>(cache: LiveCache, key: string, next: CachedValue<T>): void {
  cache.change<CachedValue<T>>(key, (kept) => newer(kept, next));
}

/** Applies changes to every value they name. */
export function applyChanges(cache: LiveCache, changes: Changes, at: number): void {
  const { seq, rows, states, faults, warm, tenants, jobs, starts } = changes;
  for (const value of rows) keep(cache, instanceKey(value.id), { seq, at, value });
  keep<Counts>(cache, countsKey, { seq, at, value: { states, faults, warm } });
  for (const { tenant, states: value } of tenants) keep(cache, tenantKey(tenant), { seq, at, value });
  for (const job of jobs) cache.change<Job>(jobKey(job.id), (kept) => laterJob(kept, job));
  for (const { request_id, started } of starts) {
    cache.change<number>(startedKey(request_id), (kept = 0) => Math.max(kept, started));
  }
}

/**
 * Reads one row through the API into the cache, once at a time. The value is as of the newest line seen before the
 * request, or of `asOf`. What cannot be read stays as it is: the stream or the next reading brings it.
 */
export function readInstance(cache: LiveCache, id: string, asOf: number, signal?: AbortSignal): Promise<void> {
  const key = instanceKey(id);
  return cache.reading(key, async () => {
    const lines = cache.get<Event[]>(linesKey) ?? [];
    const seq = lines.reduce((newest, line) => Math.max(newest, line.seq), asOf);
    try {
      const answer = await fetch(`/api/instances/${encodeURIComponent(id)}`, {
        ...(signal === undefined ? {} : { signal }),
        headers: { accept: 'application/json' },
      });
      if (answer.ok) keep<Instance>(cache, key, { seq, at: Date.now(), value: await answer.json() });
    } catch {
      // The network broke, or the component left.
    }
  });
}
