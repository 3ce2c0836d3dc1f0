/** What the palette reads through the API while somebody types: sandboxes a page at a time, and the names of everything else. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createClient } from '#lib/api/client.ts';
import { matches } from './palette-items.ts';

/** Typing that pauses for so long is asked for. */
const PAUSE_MS = 120;
const PAGE = 7;
/** Of each other kind, so many newest are known by name; of those that match so many are shown. */
const NAMES = 200;
const SHOWN = 4;

const api = createClient({ retries: 0 });

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/**
 * Sandboxes that match what is typed, last active first; what is no longer asked for is cancelled. `fresh`: they are those of what stands
 * there now, not of what stood there before.
 */
export function useSandboxes(typed: string) {
  const wanted = typed.trim();
  const settled = useSettled(wanted);
  const { data, hasNextPage, fetchNextPage, isPlaceholderData, isError } = useInfiniteQuery({
    queryKey: ['palette', 'sandboxes', settled],
    queryFn: async ({ pageParam, signal }) =>
      await api.listInstances(
        {
          limit: PAGE,
          ...(settled === '' ? {} : { q: settled }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    staleTime: 2000,
  });
  return {
    found: data?.pages.flatMap(({ items }) => items) ?? [],
    more: hasNextPage,
    readMore: () => void fetchNextPage(),
    fresh: settled === wanted && !isPlaceholderData && (data !== undefined || isError),
    failed: isError,
  };
}

interface Named {
  name: string;
  detail: string;
  href: string;
}

async function readNames(signal: AbortSignal): Promise<Named[]> {
  const [tenants, blueprints, snapshots] = await Promise.all([
    api.listTenants({ limit: NAMES }, { signal }),
    api.listBlueprints({ limit: NAMES }, { signal }),
    api.listSnapshots({ limit: NAMES }, { signal }),
  ]);
  return [
    ...tenants.items.map(({ tenant }) => ({ name: tenant, detail: 'tenant', href: `/tenants/${tenant}` })),
    ...blueprints.items.map(({ name }) => ({ name, detail: 'blueprint', href: `/blueprints/${name}` })),
    ...snapshots.items.map(({ id, tag }) => ({
      name: tag ?? id.slice(0, 12),
      detail: `snapshot ${id.slice(0, 12)}`,
      href: `/snapshots/${id}`,
    })),
  ];
}

/** Tenants, blueprints and snapshots whose name matches, a few of each. None while nothing is typed. */
export function useNames(typed: string): Named[] {
  const wanted = typed.trim();
  const { data } = useQuery({
    queryKey: ['palette', 'names'],
    queryFn: ({ signal }) => readNames(signal),
    enabled: wanted !== '',
    staleTime: 60_000,
  });
  const left = new Map<string, number>();
  return (data ?? []).filter(({ name, detail }) => {
    const kind = detail.split(' ')[0] ?? '';
    const shown = left.get(kind) ?? 0;
    if (shown >= SHOWN || !matches(wanted, name)) return false;
    left.set(kind, shown + 1);
    return true;
  });
}
