/** The thresholds of the ladder: the global ones, those of tenants, and a comparison with others. */
import type { ThresholdTrial, TrialOutcome } from './threshold-trial.ts';
import type { LedgerEntry, Thresholds } from './types.ts';

export interface ThresholdStore {
  ofTenant(tenant: string): Promise<Thresholds>;
  global(): Promise<Thresholds>;
  setGlobal(patch: Partial<Thresholds>, ledger: LedgerEntry): Promise<Thresholds>;
  /**
   * Sets a tenant's overrides; null falls back to the global value, absent members stay. Returns what now applies to
   * it.
   */
  setOfTenant(
    tenant: string,
    patch: { [K in keyof Thresholds]?: number | null },
    ledger: LedgerEntry,
  ): Promise<Thresholds>;
  /** Compares with other thresholds: how many more sandboxes would fall due, and how many fewer. Changes nothing. */
  compare(trial: ThresholdTrial): Promise<TrialOutcome>;
}
