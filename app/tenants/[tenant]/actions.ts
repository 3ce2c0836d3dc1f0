'use server';
/** The server actions that set a tenant's quotas and what is promised of its replicas. */
import { refresh } from 'next/cache';
import { slugSchema, type TenantPatch, tenantPatchSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { LIMITS, type LimitsState, readLimits } from './limits.ts';
import type { ReplicaState } from './replica-form.tsx';

/** Sets the limits that differ from the present ones. */
export async function setLimits(tenant: string, _previous: LimitsState, form: FormData): Promise<LimitsState> {
  expectTexts(tenant);
  const caller = await requireCaller(`/tenants/${tenant}`);
  const values: LimitsState['values'] = {};
  for (const name of LIMITS) values[name] = textField(form, name);
  const { patch, errors } = readLimits(values);
  const parsed = tenantPatchSchema.safeParse(patch);
  for (const issue of parsed.error?.issues ?? []) {
    const name = LIMITS.find((known) => known === issue.path[0]);
    if (name !== undefined) errors[name] ??= issue.message;
  }
  if (Object.keys(errors).length > 0 || !parsed.success) return { values, errors, outcome: null };
  if (!slugSchema.safeParse(tenant).success) return { values, errors, outcome: null };
  const { operations } = getHost();
  try {
    const { quotas, max_run_s: maxRun, max_call_s: maxCall } = await operations.getTenant(caller, tenant);
    const now = {
      max_sandboxes: quotas.max_sandboxes.limit,
      max_active: quotas.max_active.limit,
      max_bytes: quotas.max_bytes.limit,
      max_daily_cpu_s: quotas.max_daily_cpu_s.limit,
      max_run_s: maxRun,
      max_call_s: maxCall,
    };
    const changed: TenantPatch = Object.fromEntries(
      LIMITS.filter((name) => parsed.data[name] !== now[name]).map((name) => [name, parsed.data[name]]),
    );
    if (Object.keys(changed).length === 0) {
      return { values: {}, errors: {}, outcome: { ok: true, says: 'Nothing changed: these values are set already.' } };
    }
    await operations.patchTenant(caller, tenant, changed);
    refresh();
    return {
      values: {},
      errors: {},
      outcome: { ok: true, says: 'Set. What it has beyond a new limit stays; it gets no more.' },
    };
  } catch (error) {
    return { values, errors: {}, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}

/** Sets what is promised of the replicas of a tenant's sandboxes; an empty field takes it back. */
export async function setReplicate(tenant: string, _previous: ReplicaState, form: FormData): Promise<ReplicaState> {
  expectTexts(tenant);
  const caller = await requireCaller(`/tenants/${tenant}`);
  const value = textField(form, 'replicate');
  const parsed = tenantPatchSchema.safeParse({ replicate: value === '' ? null : value });
  if (!slugSchema.safeParse(tenant).success) return { value, error: null, outcome: null };
  if (!parsed.success) return { value, error: parsed.error.issues[0]?.message ?? null, outcome: null };
  try {
    await getHost().operations.patchTenant(caller, tenant, parsed.data);
    refresh();
    return { value: null, error: null, outcome: { ok: true, says: 'Set. It applies to each from its next wake on.' } };
  } catch (error) {
    return { value, error: null, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}
