/** What is promised for the replica of a sandbox: how long the store may lack what was committed. Pure. */

/**
 * `off`: nothing is shipped. `filed`: each state at rest, in the background. A number of seconds: what is committed,
 * within so many. `sync`: before the answer that says so.
 */
export type ReplicateClass =
  | { readonly kind: 'off' }
  | { readonly kind: 'filed' }
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'sync' };

type ShippingClass = Extract<ReplicateClass, { kind: 'every' | 'sync' }>;

const SECONDS = /^(\d{1,4})s$/;
const MOST_SECONDS = 3600;

/** Parses `off`, `filed`, `Ns` or `sync`; null for anything else. */
export function parseReplicate(text: string): ReplicateClass | null {
  if (text === 'off' || text === 'filed' || text === 'sync') return { kind: text };
  const seconds = Number(SECONDS.exec(text)?.[1] ?? 0);
  return seconds >= 1 && seconds <= MOST_SECONDS ? { kind: 'every', everyMs: seconds * 1000 } : null;
}

/** The inverse of `parseReplicate`. */
export function replicateText(replicate: ReplicateClass): string {
  return replicate.kind === 'every' ? `${replicate.everyMs / 1000}s` : replicate.kind;
}

/** Whether commits are shipped while a sandbox is awake. */
export function shipsCommits(replicate: ReplicateClass): replicate is ShippingClass {
  return replicate.kind === 'every' || replicate.kind === 'sync';
}

/** Milliseconds for which the store may lack what is committed; 0: answers wait until it has it. */
export function everyMsOf(replicate: ShippingClass): number {
  return replicate.kind === 'sync' ? 0 : replicate.everyMs;
}
