import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { LedgerEntry, RowPage, Thresholds } from './types.ts';

/** Null: unlimited. */
export interface QuotaLimits {
  maxSandboxes: number | null;
  maxActive: number | null;
  maxBytes: number | null;
  /** Processor seconds a day, of all its processes. */
  maxDailyCpuSeconds: number | null;
  /** The longest time of a run; null: the server's. */
  maxRunSeconds: number | null;
  /** The longest time that a call may ask for; null: its policy's. */
  maxCallSeconds: number | null;
}

export const NO_QUOTAS: QuotaLimits = {
  maxSandboxes: null,
  maxActive: null,
  maxBytes: null,
  maxDailyCpuSeconds: null,
  maxRunSeconds: null,
  maxCallSeconds: null,
};

export interface TenantRow {
  tenant: string;
  counts: Record<State, number>;
  /** Bytes of files by state, from the rows: sizes at rest, or the last measured sizes of running sandboxes. */
  bytes: Record<State, number>;
  /** Bytes by volume of the instances that were measured since their last filing, and the number of these. */
  volumes: Record<Volume, number> & { instances: number };
  /** The tenant's own settings. */
  thresholds: { [K in keyof Thresholds]: number | null };
  quotas: QuotaLimits;
  /** The tenant's own setting of replicas; null: the server's. */
  replicate: string | null;
}

export interface TenantFilter {
  /** Only these tenants. */
  among?: readonly string[];
  /** A substring of the name, case-sensitive. */
  text?: string;
  /** Only tenants that override a threshold. */
  ownThresholds?: boolean;
}

export interface QuotaStore {
  /** Tenants that have or had instances or settings, in order, without forgotten ones that have none since. */
  tenants(filter: TenantFilter, limit: number, cursor?: string): Promise<RowPage<TenantRow>>;
  /** One tenant, or null when it is unknown. */
  tenant(tenant: string): Promise<TenantRow | null>;
  /** Absent members stay, null removes a limit. A tenant beyond its new quota keeps what it has and gets no more. */
  set(tenant: string, patch: Partial<QuotaLimits>, ledger: LedgerEntry): Promise<QuotaLimits>;
  /** The tenant's own longest time of a run, in seconds; null: none. */
  maxRunSeconds(tenant: string): Promise<number | null>;
  /** The tenant's own longest time of a call, in seconds; null: none. */
  maxCallSeconds(tenant: string): Promise<number | null>;
  /** What is set for the replicas of a tenant's sandboxes; null: nothing. */
  replicateOf(tenant: string): Promise<string | null>;
  /** Sets it; null takes it back to the server's. */
  setReplicate(tenant: string, replicate: string | null, ledger: LedgerEntry): Promise<string | null>;
  /** The tenants that have one, in no order: a few, or all of them. */
  replicated(): Promise<{ tenant: string; replicate: string }[]>;
  /** The tenants that have a limit of what they may have or take, in no order. */
  limited(): Promise<string[]>;
  /** Bytes that a tenant may still add; null without a limit, 0 when it has more than it may. */
  bytesLeft(tenant: string): Promise<number | null>;
  /**
   * Reserves `bytes` before a write to an instance: its row counts this much more until its file is measured again.
   * Throws `quota_exceeded`; does nothing when its tenant has no limit.
   */
  reserve(id: InstanceId, tenant: string, bytes: number): Promise<void>;
}
