import type { Thresholds } from './types.ts';

export interface ThresholdTrial {
  /** The tenant whose thresholds are tried; null: the global ones. */
  tenant: string | null;
  /** Null falls back to the global value (for a tenant only); absent members stay. */
  patch: { [K in keyof Thresholds]?: number | null };
  /** Epoch seconds up to which a move counts. */
  until: number;
  /** Sandboxes of these tenants only. */
  tenants?: readonly string[];
}

/** Sandboxes by the ladder's move; `ended` are ephemeral ones, which it archives and deletes. */
export interface TrialCounts {
  suspended: number;
  frozen: number;
  ended: number;
}

export interface TrialOutcome {
  /** Would fall due under the trial and do not now. */
  more: TrialCounts;
  /** Fall due now and would not under the trial. */
  fewer: TrialCounts;
  /** True when there were more candidates than the trial examined. */
  cut: boolean;
}
