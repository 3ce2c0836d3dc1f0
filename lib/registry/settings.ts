/** The thresholds of the ladder: the global ones, those of tenants, and what others would do. */
import type { ThresholdTrial, TrialOutcome } from './threshold-trial.ts';
import type { LedgerEntry, Thresholds } from './types.ts';

export interface Settings {
  thresholds(tenant: string): Promise<Thresholds>;
  globalThresholds(): Promise<Thresholds>;
  setGlobalThresholds(patch: Partial<Thresholds>, ledger: LedgerEntry): Promise<Thresholds>;
  /**
   * What a tenant overrides; null falls back to the global value, what is absent stays. Returns what now applies to it.
   */
  setTenantThresholds(
    tenant: string,
    patch: { [K in keyof Thresholds]?: number | null },
    ledger: LedgerEntry,
  ): Promise<Thresholds>;
  /**
   * How many would fall due under other thresholds that do not under these, and the other way round. Changes nothing.
   */
  tryThresholds(trial: ThresholdTrial): Promise<TrialOutcome>;
}
