/**
 * Which moment of a sandbox the answer to one request is of: the layers below name it, for the `X-Moment` header and
 * for pages. Outside a request nothing is kept.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Of the moment, in epoch milliseconds; null as long as none was read. */
interface UsedMoment {
  timeMs: number | null;
}

/** A global symbol, because bundled and unbundled code have two copies of this module. */
const KEY = Symbol.for('winterdock.used-moment');

function storage(): AsyncLocalStorage<UsedMoment> {
  const shared = globalThis as typeof globalThis & { [KEY]?: AsyncLocalStorage<UsedMoment> };
  shared[KEY] ??= new AsyncLocalStorage<UsedMoment>();
  return shared[KEY];
}

/** Runs `work` as one request; `used` says which moment it read. */
export function withUsedMoment<T>(work: (used: Readonly<UsedMoment>) => T): T {
  const used: UsedMoment = { timeMs: null };
  return storage().run(used, () => work(used));
}

/** Says that the current request is answered from a moment. */
export function noteUsedMoment(timeMs: number): void {
  const used = storage().getStore();
  if (used !== undefined) used.timeMs = timeMs;
}
