/**
 * Claims: work that any host may do, and that one does at a time. Whether a claim is over is not asked here: that is
 * judged by who looks, with a clock of its own (lib/claims/claims.ts).
 */

/** The kinds of such work. Runs and scrubbing are not among them: they go by the owner of the bytes. */
export type ClaimKind = 'job' | 'firing' | 'deliveries' | 'seeding' | 'forgetting' | 'sealing' | 'usage' | 'backup';

/** A piece of work: `work` is its key within its kind, empty where there is one piece of it. */
export interface ClaimedPiece {
  kind: ClaimKind;
  work: string;
}

/** One acquisition of a piece of work, as a host holds it. */
export interface ClaimTicket extends ClaimedPiece {
  host: string;
  term: number;
  /** Random; no other acquisition has it. */
  token: string;
  /** How long it stays the host's without a renewal, in milliseconds. Written down for people. */
  lastsMs: number;
}

/** A claim as others see it. It is alive as long as `renewals` grows, or `token` changes. */
export interface ClaimRow extends ClaimedPiece {
  host: string;
  token: string;
  renewals: number;
}

export interface ClaimStore {
  /**
   * Claims a piece of work. False when somebody has it. `over`: the claim of another that is over; it is replaced if it
   * was neither renewed nor acquired anew since it was read so. Survives a kill at once, and a power loss with the next
   * transaction.
   */
  acquire(ticket: ClaimTicket, over?: Pick<ClaimRow, 'token' | 'renewals'>): Promise<boolean>;
  /** Renews those of these tokens that are still claims, in one statement, and returns them. Survives as `acquire`. */
  renew(tokens: readonly string[], lastsMs: number): Promise<string[]>;
  /** Removes the claims with these tokens; others stay, whatever they are for. Survives as `acquire`. */
  release(tokens: readonly string[]): Promise<void>;
  /** Takes a piece of work from whoever has it: its holder finds out at its next renewal. */
  revoke(piece: ClaimedPiece): Promise<void>;
  /** Removes the claims of an earlier process of this host; null: of every host. */
  removeFormer(host: string | null): Promise<void>;
  /** Every claim. */
  list(): Promise<ClaimRow[]>;
}
