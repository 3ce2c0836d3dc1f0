/**
 * Usage by the hour: what sandboxes, tenants and the server took. Processor time, calls, memory and disk are added as
 * they are measured; wakes, faults and active time are counted from the ledger. Knows nothing of how it is measured.
 */
import type { InstanceId } from '../base/ids.ts';

/** What was used since the last addition. */
interface Use {
  cpuMs: number;
  calls: number;
  /** The most memory meanwhile. */
  memoryBytes: number;
}
export interface SandboxUse extends Use {
  id: InstanceId;
}
export interface TenantUse extends Use {
  tenant: string;
}

/** An hour, or a step of some, in which something happened. Hours are counted since the epoch, in UTC. */
export interface UsageHour extends Use {
  hour: number;
  /** Bytes on disk at its end; null when there was no file. */
  bytes: number | null;
}

/** An hour of a tenant or of the server. */
interface TenantHour extends UsageHour {
  bytes: number;
  wakes: number;
  faults: number;
  /** How many more sandboxes were active at its end than at its beginning. */
  activeChange: number;
  /** Active time that these changes add, each from its moment to the end of the hour or step. */
  activeMs: number;
}

/** The hours of a tenant or of the server, and what its active time is computed from: backwards from now. */
export interface TenantHours {
  hours: TenantHour[];
  /** Sandboxes that are active now. */
  active: number;
  /** Sum of `activeChange` of the hours after the requested ones. */
  laterChange: number;
  /** Lines of the ledger that are not counted yet: the active time is wrong until then. */
  uncounted: number;
}

export interface SeriesSize {
  /** Rows, or a few more than there are. */
  rows: number;
  /** The oldest hour; null without rows. */
  oldest: number | null;
}

export interface UsageStore {
  /**
   * Adds to an hour, and to the processor time of its day, in one transaction: a use is added whole or not at all.
   * Ignores tenants that are being forgotten. `writeId`: a random id; one that was used before adds nothing.
   */
  add(
    hour: number,
    uses: { sandboxes: readonly SandboxUse[]; tenants: readonly TenantUse[] },
    writeId?: string,
  ): Promise<void>;
  /**
   * Counts up to `limit` lines of the ledger that are not counted yet, each exactly once. The first time it begins at
   * the first line since `sinceMs`. Returns how many lines remain.
   */
  countLedger(limit: number, sinceMs: number): Promise<number>;
  /**
   * The hours of a sandbox, `from` and `until` inclusive, oldest first. `step`: so many hours from `from` on are one,
   * which has the number of the first of them. Default: 1.
   */
  ofSandbox(id: InstanceId, from: number, until: number, step?: number): Promise<UsageHour[]>;
  /** The same of a tenant; null: of the whole server. */
  ofTenant(tenant: string | null, from: number, until: number, step?: number): Promise<TenantHours>;
  /** Deletes up to `limit` rows, the oldest: those before `before` and those beyond `maxRows`. Returns how many. */
  prune(before: number, maxRows: number, limit: number): Promise<number>;
  sizes(): Promise<{ sandboxes: SeriesSize; tenants: SeriesSize }>;
}
