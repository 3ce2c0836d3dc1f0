/**
 * Keeps back the answers of a host that may not act: another may have taken over what they say. What has not begun is
 * answered 503, and what is being sent is cut. Asked in the same turn in which something is written. Knows no route but
 * those that tell of the server itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { HostLease } from '../hosts/host-lease.ts';
import { sendErrorResponse } from './error-response.ts';

/** They tell of this process alone, and of why it answers nothing else. */
const OF_THE_SERVER = /^\/(?:healthz|readyz|metrics|openapi\.json)(?:[?#]|$)/;
const RETRY_AFTER_SECONDS = 1;

/** `isBegun`: the request was let in, and may have been done. */
function lapsed(isBegun: boolean): WinterdockError {
  return new WinterdockError('registry_unavailable', 'This server could not renew its lease in the registry.', {
    hint: isBegun ? 'Look whether it was done before you try again.' : 'Nothing was changed. Try again.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    extra: isBegun ? { started: true } : {},
  });
}

type Written = [never, never, never];

export class LeaseGate {
  readonly #lease: Pick<HostLease, 'mayAct' | 'watch'>;
  readonly #log: Logger;
  /** What keeps back each answer that is not written yet. */
  readonly #open = new Set<() => void>();

  constructor(lease: Pick<HostLease, 'mayAct' | 'watch'>, log: Logger) {
    this.#lease = lease;
    this.#log = log;
    lease.watch({
      onLapse: () => {
        for (const refuse of [...this.#open]) refuse();
      },
      onRegain: () => undefined,
      onLost: () => undefined,
    });
  }

  /** Whether a request may be answered; if not, it has been refused. */
  admit(req: IncomingMessage, res: ServerResponse): boolean {
    if (OF_THE_SERVER.test(req.url ?? '/')) return true;
    if (!this.#lease.mayAct) {
      sendErrorResponse(lapsed(false), req, res, this.#log);
      return false;
    }
    this.#guard(req, res);
    return true;
  }

  #guard(req: IncomingMessage, res: ServerResponse): void {
    const raw = { writeHead: res.writeHead.bind(res), write: res.write.bind(res), end: res.end.bind(res) };
    const own = new Set(res.getHeaderNames());
    let isRefused = false;
    const refuse = () => {
      if (isRefused || res.writableEnded) return;
      isRefused = true;
      this.#open.delete(refuse);
      if (res.headersSent) return void res.destroy();
      for (const name of res.getHeaderNames()) if (!own.has(name)) res.removeHeader(name);
      Object.assign(res, raw);
      sendErrorResponse(lapsed(true), req, res, this.#log);
      // Whoever was about to answer does not notice.
      Object.assign(res, calls, { setHeader: () => res, removeHeader: () => undefined, flushHeaders: () => undefined });
    };
    const isDropped = (given: unknown[]): boolean => {
      if (!isRefused && !this.#lease.mayAct) refuse();
      if (!isRefused) return false;
      const done = given.find((one) => typeof one === 'function') as (() => void) | undefined;
      if (done !== undefined) setImmediate(done);
      return true;
    };
    const calls = {
      writeHead: (...given: unknown[]) => (isDropped([]) ? res : raw.writeHead(...(given as [never]))),
      write: (...given: unknown[]) => (isDropped(given) ? true : raw.write(...(given as Written))),
      end: (...given: unknown[]) => (isDropped(given) ? res : raw.end(...(given as Written))),
    };
    Object.assign(res, calls);
    this.#open.add(refuse);
    res.once('close', () => this.#open.delete(refuse));
  }
}
