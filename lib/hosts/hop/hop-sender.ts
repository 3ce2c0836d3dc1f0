/**
 * Sends requests on to another host of the registry, over connections that are kept: to the address in its row and
 * nowhere else. A request, its answer and their ends are streams; whichever side leaves ends the other one.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Signer } from '../../base/signing.ts';
import { newToken } from '../../registry/owner.ts';
import type { OtherHost, SandboxPlaces } from '../whereabouts.ts';
import { hashOf, SEALED, TAIL_BYTES } from './hop-body.ts';
import { ClocksOfOthers } from './hop-clock.ts';
import { HopExchange } from './hop-exchange.ts';
import { HOP_HEADER } from './hop-headers.ts';
import { type HopAnswer, type HopOutcome, hostUnreached, type OutgoingHop } from './hop-request.ts';
import { parseClock, sealStatement } from './hop-statement.ts';

/** An idle connection is closed before the other host does that: it waits for 75 s. */
const IDLE_MS = 30_000;
/** Idle connections that are kept to one host. */
const MOST_IDLE = 64;
/** How often it is looked whether the hosts that owe an answer live. */
const WATCH_MS = 500;

export class HopSender {
  readonly #places: Pick<SandboxPlaces, 'host' | 'self'>;
  readonly #signer: Pick<Signer, 'sign'>;
  readonly #clocks = new ClocksOfOthers();
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS }),
    'https:': new HttpsAgent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS }),
  };
  readonly #open = new Set<HopExchange>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ places, signer }: { places: Pick<SandboxPlaces, 'host' | 'self'>; signer: Pick<Signer, 'sign'> }) {
    this.#places = places;
    this.#signer = signer;
  }

  /** Exchanges under way. */
  get open(): number {
    return this.#open.size;
  }

  /**
   * Sends a request to a host. `moved`: it does not have the sandbox, and did nothing. Rejects with
   * `storage_unavailable` when it does not answer, and with what ends the client's body.
   */
  async send(request: OutgoingHop, to: OtherHost): Promise<HopAnswer | 'moved'> {
    // Its clock is not known at first, nor after it was started again.
    for (let isAgain = false; ; isAgain = true) {
      const nonce = newToken();
      const outcome = await this.#exchange(request, to, nonce);
      if ('answer' in outcome) return outcome.answer;
      if (outcome.said === 'moved') return 'moved';
      const { publicKey } = to;
      const clock = outcome.clock === null ? null : parseClock(outcome.clock, { nonce, publicKey });
      if (clock === null || isAgain) throw hostUnreached(to.host, new Error(`It said: ${outcome.said}.`));
      this.#clocks.learn(to.host, clock);
    }
  }

  /** Cuts what is under way, and the connections. */
  close(): void {
    for (const exchange of this.#open) exchange.fail();
    for (const agent of Object.values(this.#agents)) agent.destroy();
    clearInterval(this.#timer);
  }

  async #exchange(request: OutgoingHop, to: OtherHost, nonce: string): Promise<HopOutcome> {
    const { method, target, body, caller, address, origin } = request;
    const isHeld = body instanceof Uint8Array;
    const length = isHeld ? body.byteLength : body.length;
    const header = sealStatement(
      {
        ...{ from: this.#places.self.name, to: to.host, term: to.term, nonce },
        ...this.#clocks.momentAt(to.host),
        ...{ caller, address, origin, length },
        body: isHeld ? (body.byteLength === 0 ? null : hashOf(body)) : SEALED,
      },
      request,
      this.#signer,
    );
    const { protocol, hostname, port } = new URL(to.url);
    const isSecure = protocol === 'https:';
    const begin = isSecure ? httpsRequest : httpRequest;
    const headers = { ...request.headers, ...lengthHeaders(request), [HOP_HEADER]: header };
    const sent = begin({
      protocol,
      // Written in brackets in a URL, and without them everywhere else.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path: target,
      headers,
      agent: isSecure ? this.#agents['https:'] : this.#agents['http:'],
    });
    const exchange = new HopExchange({ sent, request, to, isSecure, nonce, signer: this.#signer });
    this.#open.add(exchange);
    this.#watch();
    void exchange.closed.then(() => this.#open.delete(exchange));
    return exchange.outcome;
  }

  /** A host that is dead, or begun anew, owes no answer any more: its connection may stay silent for ever. */
  #watch(): void {
    this.#timer ??= setInterval(() => {
      for (const exchange of this.#open) {
        const { host, term, publicKey } = exchange.to;
        const now = this.#places.host(host);
        if (now === null || now.term !== term || now.publicKey !== publicKey) exchange.fail();
      }
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, WATCH_MS).unref();
  }
}

/** A body that is not held waits until it is asked for: a host that sends the request away has read nothing of it. */
function lengthHeaders({ method, body }: OutgoingHop): Record<string, string | number> {
  if (body instanceof Uint8Array) {
    const isPlain = body.byteLength === 0 && ['GET', 'HEAD', 'DELETE'].includes(method);
    return isPlain ? {} : { 'content-length': body.byteLength };
  }
  const ask = { expect: '100-continue' };
  return body.length === null
    ? { ...ask, 'transfer-encoding': 'chunked' }
    : { ...ask, 'content-length': body.length + TAIL_BYTES };
}
