/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import type { LedgerEntry } from './types.ts';

export interface InvitationRow {
  id: string;
  /** SHA-256 of the link's token in hex. */
  hash: string;
  /** The invited address; null when the person gives it on accepting. */
  email: string | null;
  role: string;
  /** Null: all tenants. */
  tenants: readonly string[] | null;
  /** Epoch seconds, as all times here. */
  created: number;
  createdBy: string;
  expires: number;
}

/** An invitation is valid while it is neither used nor withdrawn nor expired. */
export interface InvitationStore {
  /** The ledger lines are written in the same transaction, as in every method that takes lines. */
  add(invitation: InvitationRow, ledger: LedgerEntry[]): Promise<void>;
  /** The valid invitation with this digest, or null. */
  find(hash: string, now: number): Promise<InvitationRow | null>;
  /** The status of the invitation with this digest; null when there is none, or it was withdrawn. */
  stateOf(hash: string, now: number): Promise<'good' | 'used' | 'expired' | null>;
  /** Valid invitations, newest first. */
  list(now: number): Promise<InvitationRow[]>;
  /** Uses up a valid invitation. Of several concurrent attempts exactly one resolves to true. */
  use(id: string, now: number): Promise<boolean>;
  /** Undoes a use after a failed sign-up. */
  release(id: string): Promise<void>;
  /** Withdraws one. False, with nothing written, when there is no valid invitation with this id. */
  withdraw(id: string, now: number, ledger: LedgerEntry[]): Promise<boolean>;
  /** Withdraws all that `createdBy` made. */
  withdrawAllOf(createdBy: string): Promise<void>;
}
