/** A request that is sent on to another host, and what comes of it. Pure. */
import type { Readable } from 'node:stream';
import type { VouchedCaller } from '../../auth/caller.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { HopBody } from './hop-body.ts';
import type { HopStatement } from './hop-statement.ts';

/** A request that is to be sent on. */
export interface OutgoingHop {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** The headers that cross. */
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: VouchedCaller | null;
  readonly address: string | null;
  readonly origin: HopStatement['origin'];
  /** Held bytes, or a body that is read once the other host wants it. */
  readonly body: Uint8Array | HopBody;
  /** Aborted when the client leaves. */
  readonly gone: AbortSignal;
}

/** What the other host answered. A small body is there, a large one is a stream. */
export interface HopAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | Readable | null;
}

/** An answer, or what the host says of the hop itself: then it did nothing. */
export type HopOutcome =
  | { readonly answer: HopAnswer }
  | { readonly said: 'moved' | 'stale' | 'refused'; readonly clock: string | null };

const AGAIN = 'Nothing was changed. Try again.';

/** The error of a host that did not take a request. */
export function hostUnreached(host: string, cause?: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', `The host ${host}, which has the sandbox, could not be reached.`, {
    hint: AGAIN,
    retryAfterSeconds: 1,
    extra: { host },
    cause,
  });
}

/** The error of a host that had a request and did not answer. `mayHaveActed`: the request asked for a change. */
export function hostSilent(host: string, mayHaveActed: boolean, cause?: unknown): WinterdockError {
  const message = `The host ${host}, which has the sandbox, ended before it had answered.`;
  return new WinterdockError('storage_unavailable', message, {
    hint: mayHaveActed ? 'Look whether it was done before you try again.' : AGAIN,
    retryAfterSeconds: 1,
    extra: { host, ...(mayHaveActed ? { started: true } : {}) },
    cause,
  });
}

/** The error of a sandbox that two hosts in a row did not have. */
export function stillMoving(id: string): WinterdockError {
  return new WinterdockError('storage_unavailable', `The sandbox ${id} is moving to another host.`, {
    hint: AGAIN,
    retryAfterSeconds: 1,
  });
}
