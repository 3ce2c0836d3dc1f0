/**
 * What orders the series of a sandbox's replica: a number of its own, which grows when a host acquires it that another
 * one had before, in the statement that changes its owner. The terms of hosts do not tell who was later: a sandbox goes
 * to another host and comes back. Pure.
 */
import type { InstanceRow } from './types.ts';

/** What a row knows of it. */
export type SeriesOrder = Pick<InstanceRow, 'seriesTerm' | 'seriesHostTerm'>;

/** Of a row that nobody has acquired. */
export const NO_SERIES: SeriesOrder = { seriesTerm: null, seriesHostTerm: null };

/**
 * The same once a host of this term has acquired the row. Who had it last keeps its number, unless what is written from
 * now on is shipped nowhere (`isUnshipped`): a number without a series tells that something is missing. It is never
 * below the term: with one host it is that, and a restored registry, whose hosts have later terms, goes on behind what
 * was shipped before.
 */
export function acquiredBy(
  { seriesTerm, seriesHostTerm }: SeriesOrder,
  hostTerm: number,
  { isUnshipped = false } = {},
): SeriesOrder {
  const isOthers = seriesHostTerm !== null && seriesHostTerm !== hostTerm;
  const isNext = seriesTerm !== null && (isOthers || isUnshipped);
  return { seriesTerm: Math.max((seriesTerm ?? 0) + (isNext ? 1 : 0), hostTerm), seriesHostTerm: hostTerm };
}

/** The number of what a host of this term ships of a row at rest: of who acquired it last, as far as that is known. */
export function orderAtRest({ seriesTerm, seriesHostTerm }: SeriesOrder, hostTerm: number): number {
  const isItsOwn = seriesHostTerm === null || seriesHostTerm === hostTerm;
  return isItsOwn ? Math.max(seriesTerm ?? 0, hostTerm) : (seriesTerm ?? 0);
}
