/** React Query for what stands over a page and asks the API itself. Loaded with its first user; one for each visit. */
import { QueryClient } from '@tanstack/react-query';
import type { LiveCache } from './live-cache.ts';

const clients = new WeakMap<LiveCache, QueryClient>();

/** The client of a signed-in visit: a later one finds nothing of it. */
export function queriesOf(visit: LiveCache): QueryClient {
  const known = clients.get(visit);
  if (known !== undefined) return known;
  const made = new QueryClient({ defaultOptions: { queries: { retry: 1 } } });
  clients.set(visit, made);
  return made;
}
