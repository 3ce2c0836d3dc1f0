/**
 * Requests that another host of the registry sent on: whether they are what it signed, were meant for this host, are
 * fresh, and come for the first time. Knows no sockets, and nothing of what is asked.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { VouchedCaller } from '../../auth/caller.ts';
import type { Signer } from '../../base/signing.ts';
import type { OtherHost, SandboxPlaces } from '../whereabouts.ts';
import type { BodyProof } from './hop-body.ts';
import { HopClock } from './hop-clock.ts';
import { crossingHeaders, HOP_HEADER } from './hop-headers.ts';
import {
  type HopStatement,
  parseStatement,
  type StatedRequest,
  sealClock,
  type UnprovedStatement,
} from './hop-statement.ts';

/** A request that another host sent on, and that is proved but for its body. */
export interface Arrival {
  /** Name of that host. */
  readonly from: string;
  /** Who asks; null: the credentials are in the request. */
  readonly caller: VouchedCaller | null;
  readonly address: string | null;
  readonly origin: HopStatement['origin'];
  readonly proof: BodyProof;
}

/** Why a request that says to come from a host is not answered. `clock`: what this host's clock shows, signed. */
export type ArrivalRefusal = { readonly refused: string } | { readonly clock: string };

/** What is looked at: a statement, the host that it says to be of, and the request that it came with. */
interface Arriving {
  readonly unproved: UnprovedStatement;
  readonly sender: OtherHost;
  readonly stated: StatedRequest;
  readonly self: SandboxPlaces['self'];
}

/** What has to hold of every request, in this order, and what is said where it does not. */
export const ARRIVAL_RULES: readonly { why: string; holds(at: Arriving): boolean }[] = [
  {
    why: 'it is not what that host signed',
    holds: ({ unproved, sender, stated }) => unproved.isSignedBy(sender.publicKey, stated),
  },
  {
    why: 'it is meant for another host',
    holds: ({ unproved, self }) => unproved.statement.to === self.name && unproved.statement.term === self.term,
  },
];

interface ReceiverParts {
  places: Pick<SandboxPlaces, 'host' | 'self'>;
  signer: Pick<Signer, 'sign'>;
  clock?: Pick<HopClock, 'epoch' | 'judge' | 'nowMs'>;
  /** Default: all of them. */
  rules?: typeof ARRIVAL_RULES;
}

export class HopReceiver {
  readonly #parts: Required<ReceiverParts>;

  constructor({ clock = new HopClock(), rules = ARRIVAL_RULES, ...parts }: ReceiverParts) {
    this.#parts = { ...parts, clock, rules };
  }

  /** Judges a request by its headers as they came. `target`: as it was sent. */
  receive(method: string, target: string, headers: IncomingHttpHeaders): Arrival | ArrivalRefusal {
    const unproved = parseStatement(String(headers[HOP_HEADER] ?? ''));
    if (unproved === null) return { refused: 'it is no statement of a host' };
    const { statement } = unproved;
    const { places, signer, clock, rules } = this.#parts;
    const sender = places.host(statement.from);
    if (sender === null) return { refused: 'no such host is known here' };
    const stated = { method, target, headers: crossingHeaders(headers) };
    const broken = rules.find(({ holds }) => !holds({ unproved, sender, stated, self: places.self }));
    if (broken !== undefined) return { refused: broken.why };
    const verdict = clock.judge(statement);
    if (verdict === 'replayed') return { refused: 'it came before' };
    if (verdict === 'stale') return { clock: sealClock(clock, statement.nonce, signer) };
    const { from, caller, address, origin, body, length, nonce } = statement;
    return { from, caller, address, origin, proof: { body, length, nonce, publicKey: sender.publicKey } };
  }
}
