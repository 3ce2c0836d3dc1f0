import type { State } from '../lifecycle/states.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { LedgerEntry, RowPage, Thresholds } from './types.ts';

/** Null: unlimited. */
export interface QuotaLimits {
  maxSandboxes: number | null;
  maxActive: number | null;
  maxBytes: number | null;
}

export interface TenantRow {
  tenant: string;
  counts: Record<State, number>;
  /** Bytes of files by state, as the rows know them: the sizes at rest, or as last seen of what runs. */
  bytes: Record<State, number>;
  /** Bytes by volume, of the instances that were measured since they were last filed, and the number of these. */
  volumes: Record<Volume, number> & { instances: number };
  /** What it overrides. */
  thresholds: { [K in keyof Thresholds]: number | null };
  quotas: QuotaLimits;
}

export interface TenantFilter {
  /** Of these only. */
  among?: readonly string[];
  /** Somewhere in the name, as it is written. */
  text?: string;
  /** Only those that override a threshold. */
  ownThresholds?: boolean;
}

export interface QuotaStore {
  /** Tenants that have or had instances or settings, in order; not those that were forgotten and have none since. */
  tenants(filter: TenantFilter, limit: number, cursor?: string): Promise<RowPage<TenantRow>>;
  /** One of them, or null when nothing is known of it. */
  tenant(tenant: string): Promise<TenantRow | null>;
  /** What is absent stays, null stops binding. What a tenant has beyond a new quota stays; it gets no more. */
  set(tenant: string, patch: Partial<QuotaLimits>, ledger: LedgerEntry): Promise<QuotaLimits>;
  /** Bytes that a tenant may still add, or null when it is not limited; 0 when it has more than it may. */
  bytesLeft(tenant: string): Promise<number | null>;
  /**
   * Reserves `bytes` before a write to an instance: its row counts that much more until its file is measured again.
   * Throws `quota_exceeded`; does nothing when its tenant is not limited.
   */
  reserve(id: string, tenant: string, bytes: number): Promise<void>;
}
