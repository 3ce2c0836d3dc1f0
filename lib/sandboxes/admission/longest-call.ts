/** How long a call of a sandbox may ask to take. Knows nothing of how calls are ended. */
import type { Config } from '../../base/config.ts';
import type { Registry } from '../../registry/registry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { profileOf } from '../../workers/protocol/policies.ts';

export interface LongestCallParts {
  registry: { quotas: Pick<Registry['quotas'], 'maxCallSeconds'> };
  config: Pick<Config, 'maxCallMs'>;
}

/**
 * Milliseconds that a call of this sandbox may ask for at most: what the caller's key allows, else its tenant, else its
 * policy; and never more than `WB_MAX_CALL_MS`. `keySeconds`: what the key says; absent where it says nothing.
 */
export async function longestCallMs(
  { registry, config }: LongestCallParts,
  { tenant, policy }: Pick<InstanceRow, 'tenant' | 'policy'>,
  keySeconds?: number,
): Promise<number> {
  const own = keySeconds ?? (await registry.quotas.maxCallSeconds(tenant));
  return Math.min(own === null ? profileOf(policy).longestMs : own * 1000, config.maxCallMs);
}
