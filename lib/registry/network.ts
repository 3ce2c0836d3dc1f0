/** The network of sandboxes: what they and their tenants may reach, and what they did reach. */
import type { InstanceId } from '../base/ids.ts';
import type { UrlRule } from '../outgoing/url-rules.ts';
import type { LedgerEntry } from './types.ts';

export type NetworkSubject = 'sandbox' | 'tenant';

/** What a sandbox or a tenant may reach by its own list. */
interface NetworkPolicy {
  /** Null: none of its own. */
  rules: readonly UrlRule[] | null;
  /** Null: the server's. */
  requestsPerMinute: number | null;
  bytesPerDay: number | null;
}

export interface NetworkPolicyRow extends NetworkPolicy {
  updated: number;
  updatedBy: string;
}

/** What went to a host and came back. */
export interface HostUse {
  calls: number;
  /** Of its requests, those that were refused before anything was sent are not calls. */
  refused: number;
  bytesOut: number;
  bytesIn: number;
}

interface HostTraffic extends HostUse {
  /** Scheme, host and port; empty: several that are not told apart. */
  host: string;
}

/** What a sandbox sent to a host since the last addition. */
export interface SandboxTraffic extends HostTraffic {
  instance: InstanceId;
  tenant: string;
}

export interface NetworkStore {
  /** Null when nothing was ever set. */
  policy(kind: NetworkSubject, id: string): Promise<NetworkPolicyRow | null>;
  /** Replaces it. Throws `gone` for a deleted sandbox, and `conflict` while its tenant is being forgotten. */
  setPolicy(
    subject: { kind: NetworkSubject; id: string; tenant: string },
    policy: NetworkPolicyRow,
    ledger: LedgerEntry,
  ): Promise<void>;
  /**
   * Adds to an hour, in one transaction. Ignores deleted sandboxes and tenants that are being forgotten. `writeId`: a
   * random id; one that was used before adds nothing.
   */
  addTraffic(hour: number, traffic: readonly SandboxTraffic[], writeId?: string): Promise<void>;
  /** What a sandbox reached since an hour, by host, the busiest first, `limit` at most. */
  traffic(instance: InstanceId, sinceHour: number, limit: number): Promise<HostTraffic[]>;
  /** Bytes both ways since an hour. */
  bytesSince(kind: NetworkSubject, id: string, hour: number): Promise<number>;
  /** Deletes up to `limit` rows before an hour. Returns how many. */
  prune(before: number, limit: number): Promise<number>;
}
