/** What comes near a wall or fails again and again, and what was acknowledged of it. Safe for the browser. */

/** A quota of which a tenant has used at least four fifths. `used` and `limit` in the unit of the quota. */
export interface NearQuota {
  tenant: string;
  quota: 'max_sandboxes' | 'max_active' | 'max_bytes' | 'max_daily_cpu_s';
  used: number;
  limit: number;
}

/** A schedule whose last runs failed: how many, since when (epoch seconds), and why the last one did. */
export interface FailingSchedule {
  id: string;
  instance: string;
  tenant: string;
  action: string;
  failures: number;
  since: number;
  why: string | null;
}

/** The disk of the data folder. */
export interface DiskRoom {
  bytes: number;
  free_bytes: number;
}

/** An acknowledgement. Times in epoch seconds; `until` null: until what it is of ends. */
export interface Acknowledgement {
  key: string;
  tenant: string | null;
  by: string;
  at: number;
  until: number | null;
}
