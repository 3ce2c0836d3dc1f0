/**
 * The palette's queries while somebody types: pages of sandboxes, and the names of tenants, blueprints and snapshots.
 */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createClient } from '#lib/client/client.ts';
import { matches } from './items.ts';

/** A query is sent after typing pauses for this long. */
const PAUSE_MS = 120;
const PAGE = 7;
/**
 * How many of the newest blueprints and snapshots are searched by name, and how many matches of each kind are shown.
 */
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
 * Sandboxes that match the text, last active first. Outdated queries are cancelled. `fresh`: the result belongs to the
 * current text.
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

/** How many tombstones are shown. */
const DELETED = 3;

/** Deleted sandboxes that match the text: at most a few, and none while the field is empty. */
export function useTombstones(typed: string) {
  const settled = useSettled(typed.trim());
  const { data = [] } = useQuery({
    queryKey: ['palette', 'deleted', settled],
    queryFn: async ({ signal }) =>
      (await api.listInstances({ limit: DELETED, q: settled, state: 'deleted' }, { signal })).items,
    enabled: settled !== '',
    staleTime: 10_000,
  });
  return data;
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

/** The first few of each kind. */
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
 * Tenants, blueprints and snapshots whose name matches, a few of each: among all tenants, and the newest of the others.
 * None while the field is empty.
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
