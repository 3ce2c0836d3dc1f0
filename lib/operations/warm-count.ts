/** How many sandboxes are warm: the process paused in memory. Counted from what is in memory, not from the registry. */
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';

/** Of these tenants (null: all). */
export async function warmCount(
  {
    registry,
    sandboxes,
  }: { registry: { instances: Pick<Registry['instances'], 'count'> }; sandboxes: Pick<Sandboxes, 'warmIds'> },
  tenants: readonly string[] | null,
): Promise<number> {
  const ids = sandboxes.warmIds;
  if (tenants === null || ids.length === 0) return ids.length;
  return registry.instances.count({ state: 'active', ids, tenants }, ids.length);
}
