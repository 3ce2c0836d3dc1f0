/** How many rows each kept series and log has, at a bounded cost. */
import type { KeptSeries } from '../maintenance.ts';
import { keptRowStatements, rowsBetween } from '../statements/kept-rows.ts';
import type { PostgresDatabase } from './database.ts';

/** Reads the rows of each series, counted ones up to `cap`. */
export function keptRows(database: PostgresDatabase): (cap: number) => Promise<Record<KeptSeries, number>> {
  const { numbered, counted } = database.with(keptRowStatements);
  return async (cap) =>
    Object.fromEntries(
      await Promise.all([
        ...numbered.map(async ({ name, first, last }) => [
          name,
          rowsBetween((await first().get())?.seq, (await last().get())?.seq),
        ]),
        ...counted.map(async ({ name, rows }) => [name, (await rows().get({ cap }))?.n ?? 0]),
      ]),
    );
}
