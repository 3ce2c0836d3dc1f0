/**
 * Processor time that the sandboxes of tenants took, by day, and the quotas of it. Knows nothing of how it
 * is measured.
 */

export interface CpuQuota {
  tenant: string;
  /** Seconds a day. */
  limit: number;
  used: number;
}

/** Days are counted since the epoch, in UTC. `UsageStore.add` adds to them. */
export interface CpuUseStore {
  /** Seconds of a tenant on a day. */
  of(tenant: string, day: number): Promise<number>;
  /** Tenants that have a quota, and what each has used on a day. */
  limited(day: number): Promise<CpuQuota[]>;
  /** Deletes the days before `before`. */
  deleteBefore(before: number): Promise<void>;
}
