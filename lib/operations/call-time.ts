/** Refuses calls that ask for more time than they may have, before anything wakes. */
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Registry } from '../registry/registry.ts';
import { type LongestCallParts, longestCallMs } from '../sandboxes/admission/longest-call.ts';
import { LEAST_LONGEST_MS } from '../workers/protocol/policies.ts';

export interface CallTimeParts extends LongestCallParts {
  registry: LongestCallParts['registry'] & { instances: Pick<Registry['instances'], 'get'> };
}

/** The longest time that a caller's call of a sandbox may ask for, in milliseconds; null for one that is not there. */
export async function longestFor(parts: CallTimeParts, caller: Caller, id: InstanceId): Promise<number | null> {
  const row = await parts.registry.instances.get(id);
  return row && longestCallMs(parts, row, caller.maxCallSeconds);
}

/**
 * Throws `validation` for a longer time than a call of this sandbox may ask for. Returns the time with its limit, for
 * the request.
 */
export async function allowedTime(
  parts: CallTimeParts,
  caller: Caller,
  id: InstanceId,
  timeoutMs: number | undefined,
): Promise<{ timeoutMs?: number; longestMs?: number }> {
  if (timeoutMs === undefined) return {};
  // Everybody may ask for that much.
  if (timeoutMs <= Math.min(LEAST_LONGEST_MS, parts.config.maxCallMs)) return { timeoutMs };
  const most = await longestFor(parts, caller, id);
  if (most === null) return { timeoutMs };
  requireAtMost(timeoutMs, most, id);
  return { timeoutMs, longestMs: most };
}

/** Throws `validation`, naming the field, when `timeoutMs` is more. */
export function requireAtMost(timeoutMs: number, most: number, id: InstanceId): void {
  if (timeoutMs <= most) return;
  throw new WinterdockError('validation', `A call in "${id}" may take ${most} ms at most.`, {
    hint: 'Its policy, max_call_s of its tenant or of the key, and WB_MAX_CALL_MS say how long. A run (POST /instances/:id/runs) may take longer.',
    extra: { errors: [{ path: 'timeout_ms', message: `must be at most ${most}` }] },
  });
}
