/**
 * Sends a request for a sandbox on to the host that has it, and makes the answer of what comes back. A request that was
 * sent on once is sent on by nobody else: its sender is told that the sandbox has moved, and asks again.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { clientAddress } from '../auth/address.ts';
import type { Auth } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import { type AnyHeaders, headerOf } from '../auth/header.ts';
import type { InstanceId } from '../base/ids.ts';
import { heldBody, holdBody } from '../hosts/hop/hop-body.ts';
import { crossingHeaders, HOP_ANSWER, MISDIRECTED } from '../hosts/hop/hop-headers.ts';
import { type HopAnswer, stillMoving } from '../hosts/hop/hop-request.ts';
import type { HopSender } from '../hosts/hop/hop-sender.ts';
import type { SandboxPlaces } from '../hosts/whereabouts.ts';
import type { Answer } from './answer.ts';
import type { BodySource } from './body.ts';
import type { IncomingRequest } from './incoming.ts';

/** A request that may be another host's to answer. */
interface PassedRequest {
  incoming: IncomingRequest;
  requestId: string;
  /** Null: its credentials cross with it. */
  caller: Caller | null;
}

/** An answer, or the body for whoever answers here. */
export type Passed = { readonly answer: Answer } | { readonly body: BodySource };

/** Hosts that a request is sent to: the one that has the sandbox, and the one that it moved to meanwhile. */
const MOST_ASKED = 2;
/** What says which origin a client asked; from a proxy only where it is trusted. */
const ORIGIN_HEADERS = ['x-forwarded-host', 'x-forwarded-proto'] as const;

export class PassOn {
  readonly #parts: PassOnParts;

  constructor(parts: PassOnParts) {
    this.#parts = parts;
  }

  /**
   * Has a request for a sandbox answered where the sandbox is. Rejects with the errors of the registry, with
   * `storage_unavailable` when the other host does not answer, and with what ends the client's body.
   */
  async pass(id: InstanceId, request: PassedRequest): Promise<Passed> {
    const { places, sender, auth } = this.#parts;
    const { incoming, requestId } = request;
    let at = await places.whereIs(id);
    // What nobody can be asked for is the operation's to say.
    if (at.here || 'unreachable' in at) return { body: incoming.body };
    if (incoming.arrival) return { answer: misdirected('moved', `The sandbox ${id} is on another host.`, requestId) };
    // What answers here treats it as an unknown id: no stranger and no other tenant is told so much as that its host is
    // away.
    const asking = request.caller ?? (await auth.callerFromHeaders(incoming.headers, { requestId }));
    if (asking === null || asking.tenants?.includes(at.tenant) === false) return { body: incoming.body };
    const held = await holdBody(incoming.body);
    const outgoing = { ...this.#outgoing(request), body: held ?? incoming.body, gone: incoming.signal() };
    for (let asked = 1; ; asked += 1) {
      const answer = await sender.send(outgoing, at);
      if (answer !== 'moved') return { answer: answerOfHop(answer) };
      at = await places.whereIs(id);
      if (at.here || 'unreachable' in at) return { body: held === null ? incoming.body : heldBody(held) };
      if (asked === MOST_ASKED) throw stillMoving(id);
    }
  }

  /** Has a request that makes something new answered by another host, while this one is being emptied. */
  async passNew(request: PassedRequest): Promise<Passed> {
    const { places, sender } = this.#parts;
    const { incoming } = request;
    const at = incoming.arrival ? null : places.forNew();
    if (at === null) return { body: incoming.body };
    const held = await holdBody(incoming.body);
    const answer = await sender.send(
      { ...this.#outgoing(request), body: held ?? incoming.body, gone: incoming.signal() },
      at,
    );
    if (answer !== 'moved') return { answer: answerOfHop(answer) };
    return { body: held === null ? incoming.body : heldBody(held) };
  }

  /** The same for a request whose body was read. Null in the place of an answer: it is this host's. */
  withBody(request: PassedRequest) {
    return async (id: InstanceId, bytes: Uint8Array, gone: AbortSignal): Promise<Answer | null> => {
      const incoming = { ...request.incoming, body: heldBody(bytes), signal: () => gone };
      const passed = await this.pass(id, { ...request, incoming });
      return 'answer' in passed ? passed.answer : null;
    };
  }

  #outgoing({ incoming, requestId, caller }: PassedRequest) {
    const { trustProxy, auth } = this.#parts;
    const { method, target } = incoming;
    const plain = plainHeaders(incoming.headers);
    const headers: Record<string, string> = { ...crossingHeaders(plain), 'x-request-id': requestId };
    if (caller !== null) {
      delete headers.authorization;
      delete headers.cookie;
    }
    const origin: Record<string, string> = {};
    for (const name of ['host', ...(trustProxy ? ORIGIN_HEADERS : [])]) {
      const value = headerOf(plain, name);
      if (value !== null) origin[name] = value;
    }
    const address = clientAddress(plain, incoming.peer, trustProxy);
    return { method, target, headers, caller: caller && auth.vouchFor(caller), address, origin };
  }
}

interface PassOnParts {
  places: Pick<SandboxPlaces, 'whereIs' | 'forNew'>;
  sender: Pick<HopSender, 'send'>;
  auth: Pick<Auth, 'vouchFor' | 'callerFromHeaders'>;
  trustProxy: boolean;
}

function plainHeaders(headers: AnyHeaders): IncomingHttpHeaders & Record<string, string> {
  return (typeof headers.get === 'function' ? Object.fromEntries(headers as Headers) : headers) as never;
}

function answerOfHop({ status, headers, body }: HopAnswer): Answer {
  if (body === null) return { status, headers };
  if (Buffer.isBuffer(body)) return { status, headers, body: { bytes: body } };
  const length = headers['content-length'];
  const bytes = length === undefined ? null : Number(length);
  return { status, headers, body: { outgoing: { stream: body, bytes }, isLive: true } };
}

/** What a host says of the hop in the place of an answer. `more`: further headers of it. */
export function misdirected(
  said: 'moved' | 'stale' | 'refused',
  detail: string,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): Answer {
  const problem = { type: 'about:blank', title: 'Misdirected request', status: MISDIRECTED, code: 'forbidden', detail };
  return {
    status: MISDIRECTED,
    headers: { 'content-type': 'application/problem+json', [HOP_ANSWER]: said, ...more },
    body: { json: { ...problem, request_id: requestId } },
  };
}
