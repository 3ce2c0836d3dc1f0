/** What needs a person now, as far as the visitor may see it, without what was acknowledged. */
import { cache } from 'react';
import type { Caller } from '#lib/auth/caller.ts';
import type { Attention } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

export interface ReadAttention {
  open: Attention[];
  acknowledged: Attention[];
}

/** Read once per request. */
export const readAttention = cache(async (caller: Caller): Promise<ReadAttention> => {
  const rows = await getHost().operations.attention(caller, {});
  return {
    open: rows.filter(({ acknowledged }) => acknowledged === null),
    acknowledged: rows.filter(({ acknowledged }) => acknowledged !== null),
  };
});

/** How many things need a person. */
export function countOfRows(rows: readonly Pick<Attention, 'count'>[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
