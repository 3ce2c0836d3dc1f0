/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import type { LedgerEntry } from './types.ts';

export interface InvitationRow {
  id: string;
  /** SHA-256 of the link's token in hex. */
  hash: string;
  /** The invited address; null when the person gives it on accepting. */
  email: string | null;
  role: string;
  /** Null: all. */
  tenants: readonly string[] | null;
  /** Epoch seconds, as all times here. */
  created: number;
  createdBy: string;
  expires: number;
}

/** An invitation is good while it is neither used nor withdrawn nor expired. */
export interface InvitationStore {
  /** The ledger lines are in the same transaction, as in every method that takes some. */
  add(invitation: InvitationRow, ledger: LedgerEntry[]): Promise<void>;
  /** The good one with that digest, or null. */
  find(hash: string, now: number): Promise<InvitationRow | null>;
  /** What became of the one with that digest; null: there is none, or it was withdrawn. */
  stateOf(hash: string, now: number): Promise<'good' | 'used' | 'expired' | null>;
  /** Good ones, newest first. */
  list(now: number): Promise<InvitationRow[]>;
  /** Uses up a good one. Of several concurrent attempts exactly one resolves to true. */
  use(id: string, now: number): Promise<boolean>;
  /** Undoes a use that came to nothing. */
  release(id: string): Promise<void>;
  /** False when there is no good one of that id: nothing is written then. */
  withdraw(id: string, now: number, ledger: LedgerEntry[]): Promise<boolean>;
  /** Withdraws what `createdBy` made. */
  withdrawAllOf(createdBy: string): Promise<void>;
}
