/** A request as an adapter passes it on. The type alone. */
import type { AnyHeaders } from '../auth/header.ts';
import type { Arrival } from '../hosts/hop/hop-receiver.ts';
import type { BodySource } from './body.ts';

export interface IncomingRequest {
  method: string;
  /** The request target as it was sent: not decoded, not normalised. */
  target: string;
  headers: AnyHeaders;
  body: BodySource;
  /** The address of the other end of the connection. */
  peer: string | null;
  /** Who sent it on, when that was another host. */
  arrival?: Arrival | null;
  /** Aborted when the client goes away before the answer is complete. */
  signal(): AbortSignal;
}
