/** How many sandboxes are warm: the process paused in memory. Counted from what is in memory, not from the registry. */
import type { Registry } from '../registry/registry.ts';
import type { Sessions } from '../sandboxes/sandboxes.ts';

/** Of these tenants (null: all). */
export async function warmCount(
  {
    registry,
    sessions,
  }: { registry: { instances: Pick<Registry['instances'], 'count'> }; sessions: Pick<Sessions, 'warmIds'> },
  tenants: readonly string[] | null,
): Promise<number> {
  const ids = sessions.warmIds;
  if (tenants === null || ids.length === 0) return ids.length;
  return registry.instances.count({ state: 'active', ids, tenants }, ids.length);
}
