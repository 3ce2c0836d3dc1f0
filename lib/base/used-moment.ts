/**
 * Which moment of a sandbox the answer to one request is of: the layers below name it, for the `X-Moment` header.
 * Outside a request nothing is kept.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Of the moment, in epoch milliseconds; null as long as none was read. */
interface UsedMoment {
  timeMs: number | null;
}

const current = new AsyncLocalStorage<UsedMoment>();

/** Runs `work` as one request; `used` says which moment it read. */
export function withUsedMoment<T>(work: (used: Readonly<UsedMoment>) => T): T {
  const used: UsedMoment = { timeMs: null };
  return current.run(used, () => work(used));
}

/** Says that the current request is answered from a moment. */
export function noteUsedMoment(timeMs: number): void {
  const used = current.getStore();
  if (used !== undefined) used.timeMs = timeMs;
}
