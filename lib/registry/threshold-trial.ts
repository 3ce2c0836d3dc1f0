import type { Thresholds } from './types.ts';

export interface ThresholdTrial {
  /** Whose thresholds are tried: a tenant's; null: the global ones. */
  tenant: string | null;
  /** Null falls back to the global value, which only a tenant's can; what is absent stays. */
  patch: { [K in keyof Thresholds]?: number | null };
  /** Epoch seconds up to which a move counts. */
  until: number;
  /** Sandboxes of these tenants only. */
  tenants?: readonly string[];
}

/** Sandboxes by what the ladder does to them; `ended` are ephemeral ones, which it archives and deletes. */
export interface TrialCounts {
  suspended: number;
  frozen: number;
  ended: number;
}

export interface TrialOutcome {
  /** Would fall due, and do not as it is. */
  more: TrialCounts;
  /** Fall due as it is, and would not. */
  fewer: TrialCounts;
  /** There were more candidates than were looked at. */
  cut: boolean;
}
