'use client';
/**
 * What leaves of a page read: what the server rendered, or what the event stream told since. Without JavaScript, and
 * before the first line, that is the page as it was rendered.
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
  /** The ledger's newest line before the page was read; -1: not known, so whatever was told is newer. */
  asOf: number;
  /** The server's time at rendering, epoch seconds. */
  rendered: number;
}

const MomentContext = createContext<Moment>({ asOf: -1, rendered: 0 });

/**
 * Says of the leaves in it when they were read. `asOf`: the ledger's newest line before that; `rendered`: epoch
 * seconds.
 */
export function AsOf({ asOf, rendered, children }: Moment & { children: ReactNode }) {
  return <MomentContext value={{ asOf, rendered }}>{children}</MomentContext>;
}

/**
 * A row as it is now. `everyMs`: it is also asked for so often, because use sets its clock back without a line in the
 * ledger.
 */
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

/** A row as it is now, from what the stream told. */
export function useStreamedInstance(initial: Instance, rendered: number): Instance {
  return useInstance(initial, rendered, never);
}

function useKept<T>(key: readonly string[], initial: T): T {
  const { asOf, rendered } = use(MomentContext);
  const { data } = useQuery<CachedValue<T>>({ queryKey: key, queryFn: skipToken });
  return valueToShow(data, initial, asOf, rendered * 1000);
}

/** How many are in which state, of everything that the visitor may see. */
export function useStateCounts(states: States): States {
  const { data } = useQuery<CachedValue<Counts>>({ queryKey: countsKey, queryFn: skipToken });
  const { asOf, rendered } = use(MomentContext);
  return valueToShow(data && { ...data, value: data.value.states }, states, asOf, rendered * 1000);
}

/** How many of a tenant are in which state. */
export function useTenantStateCounts(tenant: string, states: States): States {
  return useKept(tenantKey(tenant), states);
}

/** A job as it is now: what was rendered, or what was told when that is further. */
export function useJob(initial: Job): Job {
  const { data } = useQuery<Job>({ queryKey: jobKey(initial.id), queryFn: skipToken });
  return data === undefined ? initial : laterJob(data, initial);
}

/** How many were started of what one call made: of what was rendered and what was told, the more. */
export function useStartedCount(requestId: string, started: number): number {
  const { data = 0 } = useQuery<number>({ queryKey: startedKey(requestId), queryFn: skipToken });
  return Math.max(data, started);
}

/** The last lines of the ledger, newest first: as many as were rendered, those that `fits` lets through. */
export function useLedgerLines(initial: readonly Event[], limit: number, fits: (event: Event) => boolean): Event[] {
  const { data } = useQuery<Event[]>({ queryKey: linesKey, queryFn: skipToken });
  return data === undefined ? [...initial] : mergeLines(initial, data.filter(fits), limit);
}
