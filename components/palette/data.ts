/**
 * What the palette reads through the API while somebody types: sandboxes a page at a time, and the names of everything
 * else.
 */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createClient } from '#lib/client/client.ts';
import { matches } from './items.ts';

/** Typing that pauses for so long is asked for. */
const PAUSE_MS = 120;
const PAGE = 7;
/** So many newest blueprints and snapshots are known by name; of each kind that matches so many are shown. */
const NAMES = 200;
const SHOWN = 4;
const LONGEST_TENANT = 63;

const api = createClient({ url: '', key: null, retries: 0 });

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/**
 * Sandboxes that match what is typed, last active first; what is no longer asked for is cancelled. `fresh`: they are
 * those of what stands there now, not of what stood there before.
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
  const [blueprints, snapshots] = await Promise.all([
    api.listBlueprints({ limit: NAMES }, { signal }),
    api.listSnapshots({ limit: NAMES }, { signal }),
  ]);
  return [
    ...blueprints.items.map(({ name }) => ({ name, detail: 'blueprint', href: `/blueprints/${name}` })),
    ...snapshots.items.map(({ id, tag }) => ({
      name: tag ?? id.slice(0, 12),
      detail: `snapshot ${id.slice(0, 12)}`,
      href: `/snapshots/${id}`,
    })),
  ];
}

/** At most so many of each kind. */
function fewOfEach(named: readonly Named[]): Named[] {
  const counts = new Map<string, number>();
  return named.filter(({ detail }) => {
    const kind = detail.split(' ')[0] ?? '';
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= SHOWN;
  });
}

/**
 * Tenants, blueprints and snapshots whose name matches, a few of each: tenants of all, the others of the newest. None
 * while nothing is typed.
 */
export function useNames(typed: string): Named[] {
  const wanted = typed.trim();
  const settled = useSettled(wanted).slice(0, LONGEST_TENANT);
  const tenants = useQuery({
    queryKey: ['palette', 'tenants', settled],
    queryFn: async ({ signal }) => (await api.listTenants({ q: settled, limit: SHOWN }, { signal })).items,
    enabled: settled !== '',
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const names = useQuery({
    queryKey: ['palette', 'names'],
    queryFn: ({ signal }) => readNames(signal),
    enabled: wanted !== '',
    staleTime: 60_000,
  });
  if (wanted === '') return [];
  const found = (tenants.data ?? []).map(({ tenant }) => ({
    name: tenant,
    detail: 'tenant',
    href: `/tenants/${tenant}`,
  }));
  return fewOfEach([...found, ...(names.data ?? [])].filter(({ name }) => matches(wanted, name)));
}
