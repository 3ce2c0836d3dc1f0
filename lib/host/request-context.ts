/**
 * The context of one request, in an `AsyncLocalStorage`: pages, server actions, route files and the log read it. Holds
 * the request's id, whether the console's own code has started on it, and its first error. Knows neither sockets nor
 * Next.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Wire } from '../http/web-adapter.ts';

export class RequestContext {
  /** The id of the request: in its headers, the log, the ledger and on the page. */
  readonly requestId: string;
  /**
   * Whether Next decodes a part of the request before our code runs: the arguments of an action, the state of a router.
   */
  readonly hasDecodedBody: boolean;
  /** What a route file of the API needs besides the `Request`; null for a page. */
  readonly wire: Wire | null;
  /** Whether the console has found out who sent it: somebody with a session or a key. */
  isKnown = false;
  #hasStarted = false;
  #firstError: unknown = null;

  constructor(requestId: string, isDecoded: boolean, wire: Wire | null = null) {
    this.requestId = requestId;
    this.hasDecodedBody = isDecoded;
    this.wire = wire;
  }

  /** Called when the console's own code starts: from then on an error is the console's. */
  markStarted(): void {
    this.#hasStarted = true;
  }

  /** Whether an error now comes from decoding the request, not from the console's own code. */
  get isUnreadable(): boolean {
    return this.hasDecodedBody && !this.#hasStarted;
  }

  /** The first thing thrown; null when nothing was. */
  get firstError(): unknown {
    return this.#firstError;
  }

  /** Keeps an error. The first one wins: it is the cause of those that follow. */
  keepError(error: unknown): void {
    this.#firstError ??= error;
  }
}

/** A global symbol, because bundled and unbundled code have two copies of this module. */
const KEY = Symbol.for('winterdock.request');

function storage(): AsyncLocalStorage<RequestContext> {
  const shared = globalThis as typeof globalThis & { [KEY]?: AsyncLocalStorage<RequestContext> };
  shared[KEY] ??= new AsyncLocalStorage<RequestContext>();
  return shared[KEY];
}

/** The context of the request that the running code belongs to, or null outside of any request. */
export function currentRequest(): RequestContext | null {
  return storage().getStore() ?? null;
}

/** Runs `work`, and everything it starts, in the context of a request. */
export function runInRequest<T>(context: RequestContext, work: () => T): T {
  return storage().run(context, work);
}
