/** For tests: the claims of one host over a registry, with a monotonic clock that moves only when told to. */
import { createLogger } from '../../base/log.ts';
import type { Registry } from '../../registry/registry.ts';
import { Claims } from '../claims.ts';

/** A host that shares the registry with others, unless it is `alone`. Looks only when the test calls `tick`. */
export function claimsOf(
  registry: Pick<Registry, 'claims'>,
  { name = 'one', alone = false, monotonicMs }: { name?: string; alone?: boolean; monotonicMs?: () => number } = {},
): Claims {
  return new Claims({
    registry,
    host: { name, term: 1, isAlone: alone },
    log: createLogger('silent'),
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  });
}
