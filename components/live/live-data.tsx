'use client';
/**
 * Hooks for the client components of a page: each returns what the server rendered, or what the event stream delivered
 * since. Without JavaScript the page stays as it was rendered.
 */
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import type { Event, Instance, Job } from '#lib/contract/schema.ts';
import {
  type CachedValue,
  type Counts,
  countsKey,
  instanceKey,
  jobKey,
  laterJob,
  linesKey,
  mergeLines,
  readInstance,
  type States,
  startedKey,
  tenantKey,
  valueToShow,
} from './cache.ts';
import { LiveCache } from './live-cache.ts';

interface Moment {
  /** The ledger's newest line before the page was read; -1: unknown, so everything that arrives counts as newer. */
  asOf: number;
  /** The server's time at rendering, epoch seconds. */
  rendered: number;
}

/** The cache of a signed-in visit. Where nobody is signed in nothing is live. */
export const CacheContext = createContext(new LiveCache());

/** Told when a page appears, with the ledger's newest line before it was read. */
export const ShownContext = createContext<(asOf: number) => void>(() => {});

const MomentContext = createContext<Moment>({ asOf: -1, rendered: 0 });

/**
 * Tells the components in it when their data was read. `asOf`: the ledger's newest line before that. `rendered`: epoch
 * seconds.
 */
export function AsOf({ asOf, rendered, children }: Moment & { children: ReactNode }) {
  const shown = use(ShownContext);
  useEffect(() => shown(asOf), [shown, asOf]);
  return <MomentContext value={{ asOf, rendered }}>{children}</MomentContext>;
}

const atFirst = () => undefined;

/** What is kept by a key; undefined until something is, and while the page takes over what the server rendered. */
function useCached<T>(key: string): T | undefined {
  const cache = use(CacheContext);
  const subscribe = useCallback((tell: () => void) => cache.subscribe(key, tell), [cache, key]);
  return useSyncExternalStore(subscribe, () => cache.get<T>(key), atFirst);
}

/** The current row of a sandbox. `everyMs`: polls it too, because activity resets its clock without a ledger line. */
export function useInstance(initial: Instance, rendered: number, everyMs: (row: Instance) => number | false): Instance {
  const cache = use(CacheContext);
  const { asOf } = use(MomentContext);
  const { id } = initial;
  const row = valueToShow(useCached<CachedValue<Instance>>(instanceKey(id)), initial, asOf, rendered * 1000);
  const poll = useRef({ row, asOf, everyMs });
  poll.current = { row, asOf, everyMs };
  const pause = everyMs(row);
  useEffect(() => {
    if (pause === false) return;
    const left = new AbortController();
    const timer = setInterval(() => {
      const { row: shown, asOf: known, everyMs: still } = poll.current;
      if (document.visibilityState === 'visible' && still(shown) !== false) {
        void readInstance(cache, id, known, left.signal);
      }
    }, pause);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [cache, id, pause]);
  return row;
}

const never = () => false as const;

/** The current row of a sandbox, from the stream only. */
export function useStreamedInstance(initial: Instance, rendered: number): Instance {
  return useInstance(initial, rendered, never);
}

function useKept<T>(key: string, initial: T): T {
  const { asOf, rendered } = use(MomentContext);
  const data = useCached<CachedValue<T>>(key);
  return valueToShow(data, initial, asOf, rendered * 1000);
}

/** Counts by state, of everything that the visitor may see. */
export function useStateCounts(states: States): States {
  const data = useCached<CachedValue<Counts>>(countsKey);
  const { asOf, rendered } = use(MomentContext);
  return valueToShow(data && { ...data, value: data.value.states }, states, asOf, rendered * 1000);
}

/** How many are warm, of everything that the visitor may see. */
export function useWarmCount(warm: number): number {
  const data = useCached<CachedValue<Counts>>(countsKey);
  const { asOf, rendered } = use(MomentContext);
  return valueToShow(data && { ...data, value: data.value.warm }, warm, asOf, rendered * 1000);
}

/** Counts by state, of one tenant. */
export function useTenantStateCounts(tenant: string, states: States): States {
  return useKept(tenantKey(tenant), states);
}

/** The current state of a job: the later of what was rendered and what the stream delivered. */
export function useJob(initial: Job): Job {
  const data = useCached<Job>(jobKey(initial.id));
  return data === undefined ? initial : laterJob(data, initial);
}

/** How many sandboxes of one batch have started: the larger of what was rendered and what the stream delivered. */
export function useStartedCount(requestId: string, started: number): number {
  const data = useCached<number>(startedKey(requestId)) ?? 0;
  return Math.max(data, started);
}

/** The last ledger lines that `fits` accepts, newest first, at most `limit`. */
export function useLedgerLines(initial: readonly Event[], limit: number, fits: (event: Event) => boolean): Event[] {
  const data = useCached<Event[]>(linesKey);
  return data === undefined ? [...initial] : mergeLines(initial, data.filter(fits), limit);
}
