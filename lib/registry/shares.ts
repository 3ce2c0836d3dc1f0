import type { InstanceId } from '../base/ids.ts';
import type { LedgerEntry, RowPage } from './types.ts';

export interface ShareMember {
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
}

export interface ShareRow {
  /** The id in the bundle's manifest. */
  id: string;
  instance: InstanceId;
  tenant: string;
  format: string;
  volumes: string[];
  privateIncluded: boolean;
  /** The `did:key` that signed. */
  issuer: string | null;
  /** Every member of the zip by name, including the manifest. */
  members: Record<string, ShareMember>;
  /** Hash of `vfs.sqlite`, and of the whole bundle: lower-case hex. */
  diskSha256: string;
  sha256: string;
  bytes: number;
  /** Epoch seconds. */
  created: number;
  actor: string;
  requestId: string | null;
}

interface ShareFilter {
  tenant?: string;
  /** Only these tenants; empty: all. */
  tenants?: readonly string[];
  instance?: InstanceId;
}

/** The known hashes and id of a bundle that may be a share. */
interface ShareTraits {
  sha256: string;
  id: string | null;
  diskSha256: string | null;
}

export interface ShareStore {
  /** Stores a share with its ledger lines, in one transaction. Throws `conflict` for an id that is taken. */
  add(share: ShareRow, ledger: LedgerEntry[]): Promise<void>;
  /** Newest first. A malformed cursor throws `validation`. */
  list(filter: ShareFilter, limit: number, cursor?: string): Promise<RowPage<ShareRow>>;
  /**
   * Finds the share that a bundle is, or was made from: by the hash of the whole, else by id, else by `vfs.sqlite`.
   * Null when there is none.
   */
  find(traits: ShareTraits, filter: Pick<ShareFilter, 'tenants'>): Promise<ShareRow | null>;
}

/** Without its number, which is part of the cursor. */
export function shareOf({ seq: _, ...share }: ShareRow & { seq: number }): ShareRow {
  return share;
}
