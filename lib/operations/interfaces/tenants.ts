/** The operations about tenants and about how the whole dock does: quotas, wake times, the simulator. */
import type { Caller } from '../../auth/caller.ts';
import type {
  ForgetTenantInput,
  ForgettingStarted,
  PreviewAnswer,
  PreviewInput,
  SimulateInput,
  Simulation,
  Tenant,
  TenantForgetPlan,
  TenantPatch,
  TenantsQuery,
  WakeTime,
} from '../../contract/schema/tenants.ts';

export interface TenantsOperations {
  listTenants(caller: Caller, query: TenantsQuery): Promise<{ items: Tenant[]; next: string | null }>;
  /** A caller's own tenant is there before its first sandbox. */
  getTenant(caller: Caller, tenant: string): Promise<Tenant>;
  /** Makes what a tenant may have and its thresholds; it need not have anything yet. */
  patchTenant(caller: Caller, tenant: string, patch: TenantPatch): Promise<Tenant>;
  /**
   * Begins to forget a tenant when its name is in `confirm`, or says what that would do. Throws `not_found` for one
   * that nothing is known of, `conflict` while it is being forgotten.
   */
  forgetTenant(
    caller: Caller,
    tenant: string,
    input: ForgetTenantInput,
  ): Promise<{ plan: TenantForgetPlan } | { started: ForgettingStarted }>;
  wakeTimes(caller: Caller, query: { days: number }): Promise<WakeTime[]>;
  /** What other thresholds would do within a minute to what is there now, as the last tick left it. Changes nothing. */
  previewThresholds(caller: Caller, input: PreviewInput): Promise<PreviewAnswer>;
  simulate(caller: Caller, input: SimulateInput): Promise<Simulation>;
}
