'use server';
/** The palette's server action: reads a sandbox and the moves that are open to it. It changes nothing. */
import type { SandboxChoice } from '#components/palette/items.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from './caller.ts';
import { expectTexts } from './form-values.ts';
import { moveOffers } from './sandboxes/[id]/move-offers.ts';
import { TABS, tabAddress } from './sandboxes/[id]/tab-names.ts';

/** A sandbox and its moves, or null when there is none that the visitor may see, or it is deleted. */
export async function sandboxForPalette(id: string): Promise<SandboxChoice | null> {
  expectTexts(id);
  const caller = await requireCaller('/');
  if (!isInstanceId(id)) return null;
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    if (instance.state === 'deleted') return null;
    const { name, tenant, state, fault, fault_reason, state_since, warm_since, pending, interrupted } = instance;
    return {
      sandbox: { id, name, tenant, state, fault, fault_reason, state_since, warm_since, pending, interrupted },
      parts: TABS.map(({ name, key }) => ({ name, href: tabAddress(id, key) })),
      offers: moveOffers(instance, caller),
    };
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'gone')) return null;
    throw error;
  }
}
