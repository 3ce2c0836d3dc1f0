/**
 * Where the time of one request went: parts that the layers below name, for the `Server-Timing` header of its answer.
 * Outside a request nothing is kept.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type TimingPart = 'wait' | 'start' | 'open' | 'thaw' | 'commit' | 'run';

const current = new AsyncLocalStorage<Map<TimingPart, number>>();

/** Runs `work` as one request; `parts` fills while it runs. */
export function withTiming<T>(work: (parts: ReadonlyMap<TimingPart, number>) => T): T {
  const parts = new Map<TimingPart, number>();
  return current.run(parts, () => work(parts));
}

/** Adds milliseconds to a part of the current request. */
export function notePart(part: TimingPart, milliseconds: number): void {
  const parts = current.getStore();
  parts?.set(part, (parts.get(part) ?? 0) + milliseconds);
}

/** The value of a `Server-Timing` header; null when there is nothing to say. */
export function serverTiming(parts: ReadonlyMap<TimingPart, number>): string | null {
  if (parts.size === 0) return null;
  return [...parts].map(([part, milliseconds]) => `${part};dur=${Math.round(milliseconds * 100) / 100}`).join(', ');
}
