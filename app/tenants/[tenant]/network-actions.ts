'use server';
/** The server action that sets what the sandboxes of a tenant may reach. */
import { refresh } from 'next/cache';
import type { NetworkState } from '#components/network/network-form.tsx';
import { slugSchema, tenantNetworkInputSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectShape, expectTexts } from '../../form-values.ts';
import { networkErrors, networkOfForm } from '../../network-input.ts';
import { problemInWords, problemOf } from '../../problem.ts';

export async function setTenantNetwork(tenant: string, _previous: NetworkState, form: FormData): Promise<NetworkState> {
  expectTexts(tenant);
  expectShape(slugSchema, tenant);
  const caller = await requireCaller(`/tenants/${tenant}`);
  const { values, input, errors } = networkOfForm(form);
  const parsed = tenantNetworkInputSchema.safeParse({ ...input, rules: input.rules ?? [] });
  const all = { ...networkErrors(parsed.error?.issues ?? []), ...errors };
  if (Object.keys(all).length > 0 || !parsed.success) return { values, errors: all, outcome: null };
  try {
    await getHost().operations.putTenantNetwork(caller, tenant, parsed.data);
  } catch (error) {
    return { values, errors: {}, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
  refresh();
  return { values: null, errors: {}, outcome: { ok: true, says: 'Set. It holds from the next request.' } };
}
