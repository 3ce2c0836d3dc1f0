/** Who sends a request. The type alone: what signs them in is auth.ts, what they may do is lib/contract/access.ts. */
import type { Via } from '../lifecycle/words.ts';
import type { Role } from './roles.ts';

/** Who is asking, how, from where, with which rights, and under which request. One object a request. */
export interface Caller {
  /** `key:admin`, `key:<id>` or `user:<id>`; what the ledger shows. */
  actor: string;
  via: Via;
  requestId: string;
  role: Role;
  /** The tenants it is limited to; null: all there are. */
  tenants: readonly string[] | null;
  /** The address the request comes from, or null when it is unknown. */
  address: string | null;
  /** The id of the session that signed the request in, or null for a key. */
  session: string | null;
  /** Seconds that its calls may ask for at most; absent: what the tenant or the policy allows. */
  maxCallSeconds?: number;
}

/** Who asks, as one host tells it to another: an identity alone. Its rights are looked up by whoever is told. */
export interface VouchedCaller {
  readonly actor: string;
  readonly session: string | null;
  /** Which admin key it was, by its fingerprint; null for any other caller. */
  readonly proof: string | null;
}
