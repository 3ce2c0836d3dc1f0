/** The keys of programs: their rights, and the digest that a presented key must have. Never sees a key itself. */
import type { LedgerEntry } from './types.ts';

export interface NewKey {
  id: string;
  name: string;
  role: string;
  /** The only tenant it may access; null: all. */
  tenant: string | null;
  /** SHA-256 of the whole key in hex. */
  hash: string;
  /** Epoch seconds, as all times here. */
  created: number;
  createdBy: string;
  /** When it expires; null: never. */
  expires: number | null;
  /** Seconds that its calls may ask for at most; null: what the tenant or the policy allows. */
  maxCallSeconds: number | null;
}

export interface KeyRow extends NewKey {
  lastUsed: number | null;
  revoked: number | null;
}

export interface KeyStore {
  /** Throws when the id is taken. The ledger line is in the same transaction, as in every method that takes one. */
  add(key: NewKey, ledger: LedgerEntry): Promise<KeyRow>;
  /** The row, revoked ones included, or null. */
  get(id: string): Promise<KeyRow | null>;
  /** Keys that are not revoked, newest first. */
  list(): Promise<KeyRow[]>;
  /** False, with nothing written, when there is no such key, or it is revoked already. */
  revoke(id: string, now: number, ledger: LedgerEntry): Promise<boolean>;
  /**
   * Records when keys were last used; never backwards. Survives a kill at once, power loss with the next transaction.
   */
  recordUse(uses: readonly { id: string; at: number }[]): Promise<void>;
}
