'use client';
/**
 * Hooks for the client components of a page: each returns what the server rendered, or what the event stream delivered
 * since. Without JavaScript the page stays as it was rendered.
 */
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use } from 'react';
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
  unshownInstance,
  valueToShow,
} from './cache.ts';

interface Moment {
  /** The ledger's newest line before the page was read; -1: unknown, so everything that arrives counts as newer. */
  asOf: number;
  /** The server's time at rendering, epoch seconds. */
  rendered: number;
}

const MomentContext = createContext<Moment>({ asOf: -1, rendered: 0 });

/**
 * Tells the components in it when their data was read. `asOf`: the ledger's newest line before that. `rendered`: epoch
 * seconds.
 */
export function AsOf({ asOf, rendered, children }: Moment & { children: ReactNode }) {
  return <MomentContext value={{ asOf, rendered }}>{children}</MomentContext>;
}

/** The current row of a sandbox. `everyMs`: polls it too, because activity resets its clock without a ledger line. */
export function useInstance(initial: Instance, rendered: number, everyMs: (row: Instance) => number | false): Instance {
  const queries = useQueryClient();
  const { asOf } = use(MomentContext);
  const { id } = initial;
  const { data } = useQuery<CachedValue<Instance>>({
    queryKey: instanceKey(id),
    queryFn: ({ signal }) => readInstance(queries, id, asOf, signal),
    initialData: () => unshownInstance(queries, id) ?? { seq: asOf, at: rendered * 1000, value: initial },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => everyMs(valueToShow(state.data, initial, asOf, rendered * 1000)),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return valueToShow(data, initial, asOf, rendered * 1000);
}

const never = () => false as const;

/** The current row of a sandbox, from the stream only. */
export function useStreamedInstance(initial: Instance, rendered: number): Instance {
  return useInstance(initial, rendered, never);
}

function useKept<T>(key: readonly string[], initial: T): T {
  const { asOf, rendered } = use(MomentContext);
  const { data } = useQuery<CachedValue<T>>({ queryKey: key, queryFn: skipToken });
  return valueToShow(data, initial, asOf, rendered * 1000);
}

/** Counts by state, of everything that the visitor may see. */
export function useStateCounts(states: States): States {
  const { data } = useQuery<CachedValue<Counts>>({ queryKey: countsKey, queryFn: skipToken });
  const { asOf, rendered } = use(MomentContext);
  return valueToShow(data && { ...data, value: data.value.states }, states, asOf, rendered * 1000);
}

/** How many are warm, of everything that the visitor may see. */
export function useWarmCount(warm: number): number {
  const { data } = useQuery<CachedValue<Counts>>({ queryKey: countsKey, queryFn: skipToken });
  const { asOf, rendered } = use(MomentContext);
  return valueToShow(data && { ...data, value: data.value.warm }, warm, asOf, rendered * 1000);
}

/** Counts by state, of one tenant. */
export function useTenantStateCounts(tenant: string, states: States): States {
  return useKept(tenantKey(tenant), states);
}

/** The current state of a job: the later of what was rendered and what the stream delivered. */
export function useJob(initial: Job): Job {
  const { data } = useQuery<Job>({ queryKey: jobKey(initial.id), queryFn: skipToken });
  return data === undefined ? initial : laterJob(data, initial);
}

/** How many sandboxes of one batch have started: the larger of what was rendered and what the stream delivered. */
export function useStartedCount(requestId: string, started: number): number {
  const { data = 0 } = useQuery<number>({ queryKey: startedKey(requestId), queryFn: skipToken });
  return Math.max(data, started);
}

/** The last ledger lines that `fits` accepts, newest first, at most `limit`. */
export function useLedgerLines(initial: readonly Event[], limit: number, fits: (event: Event) => boolean): Event[] {
  const { data } = useQuery<Event[]>({ queryKey: linesKey, queryFn: skipToken });
  return data === undefined ? [...initial] : mergeLines(initial, data.filter(fits), limit);
}
