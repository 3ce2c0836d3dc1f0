/** How many rows each kept series and log has, at a bounded cost. */
import type { KeptSeries } from '../maintenance.ts';
import { keptRowStatements, rowsBetween } from '../statements/kept-rows.ts';
import type { RegistryDatabase } from './database.ts';

/** Reads the rows of each series, counted ones up to `cap`. */
export function keptRows(database: RegistryDatabase): (cap: number) => Record<KeptSeries, number> {
  const { numbered, counted } = keptRowStatements(database);
  return (cap) =>
    Object.fromEntries([
      ...numbered.map(({ name, first, last }) => [name, rowsBetween(first().get()?.seq, last().get()?.seq)]),
      ...counted.map(({ name, rows }) => [name, rows().get({ cap })?.n ?? 0]),
    ]);
}
