/**
 * The request that a page is rendered, an action is run or a route file answers for, wherever in the process it is
 * asked about: its id, what Next keeps to itself of it, whether the console's own code has begun on it, and what was
 * thrown. Knows nothing of sockets, nor of Next.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Wire } from '../http/web-adapter.ts';

export class Visit {
  /** The id of the request: in its headers, the log, the ledger and on the page. */
  readonly requestId: string;
  /**
   * Whether it carries what Next decodes before any code of ours runs: an action with its arguments, the state of a
   * router.
   */
  readonly isDecoded: boolean;
  /** What a route file of the API needs; null: this is a page's. */
  readonly wire: Wire | null;
  #hasBegun = false;
  #thrown: unknown = null;

  constructor(requestId: string, isDecoded: boolean, wire: Wire | null = null) {
    this.requestId = requestId;
    this.isDecoded = isDecoded;
    this.wire = wire;
  }

  /** The console's own code runs: from now on a failure is of what it does. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** Whether what is thrown now is of what was sent, and not of what the console does with it. */
  get isUnread(): boolean {
    return this.isDecoded && !this.#hasBegun;
  }

  /** What was thrown first; null: nothing. */
  get thrown(): unknown {
    return this.#thrown;
  }

  /** Keeps what was thrown; the first one is the cause of what follows. */
  keep(thrown: unknown): void {
    this.#thrown ??= thrown;
  }
}

/** Bundled and unbundled code are two copies of this module. */
const KEY = Symbol.for('winterdock.visit');

function storage(): AsyncLocalStorage<Visit> {
  const place = globalThis as typeof globalThis & { [KEY]?: AsyncLocalStorage<Visit> };
  place[KEY] ??= new AsyncLocalStorage<Visit>();
  return place[KEY];
}

/** The visit that the running code belongs to, or null when it belongs to none. */
export function currentVisit(): Visit | null {
  return storage().getStore() ?? null;
}

/** Runs `work`, and whatever it begins, for a visit. */
export function duringVisit<T>(visit: Visit, work: () => T): T {
  return storage().run(visit, work);
}
