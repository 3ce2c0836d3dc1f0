/** What needs a person now, as far as the visitor may see it, without what was acknowledged. */
import { cache } from 'react';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Acknowledgement } from '#lib/contract/schema/attention.ts';
import { getHost } from '#lib/host/host.ts';
import { ATTENTION_SOURCES, type AttentionRow } from './sources.ts';

export interface Attention {
  open: AttentionRow[];
  acknowledged: { row: AttentionRow; by: Acknowledgement }[];
}

/** An acknowledgement is not of what began after it. */
function isMeant(row: AttentionRow, { at }: Acknowledgement): boolean {
  return row.since === null || row.since <= at;
}

/** Faults first. Read once per request. */
export const readAttention = cache(async (caller: Caller): Promise<Attention> => {
  const sources = ATTENTION_SOURCES.filter(({ needs }) => mayDo(caller, needs));
  const [known, ...found] = await Promise.all([
    mayDo(caller, 'acknowledgements') ? getHost().operations.acknowledgements(caller) : [],
    ...sources.map((source) => source.read(caller)),
  ]);
  const rows = found.flat().sort((one, other) => Number(one.level === 'wall') - Number(other.level === 'wall'));
  const byOf = (row: AttentionRow) => known.find((by) => by.key === row.key && isMeant(row, by));
  return {
    open: rows.filter((row) => byOf(row) === undefined),
    acknowledged: rows.flatMap((row) => {
      const by = byOf(row);
      return by === undefined ? [] : [{ row, by }];
    }),
  };
});

/** How many things need a person. */
export function countOfRows(rows: readonly AttentionRow[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
