/** What differs between the rows of a table at two moments. Pure. */
import type { DatabaseCell } from '#lib/contract/schema.ts';

type Row = readonly DatabaseCell[];

/** `changed`: the same first column, and other values; its `differs` names the columns. */
export type RowChange =
  | { kind: 'added'; row: Row }
  | { kind: 'removed'; row: Row }
  | { kind: 'changed'; before: Row; row: Row; differs: readonly boolean[] };

const keyOf = (value: unknown) => JSON.stringify(value);

/** The rows that `rows` has and `others` has not, each as often as it is there more often. */
function without(rows: readonly Row[], others: readonly Row[]): Row[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(keyOf(row), (left.get(keyOf(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(keyOf(row)) ?? 0;
    if (count > 0) left.set(keyOf(row), count - 1);
    return count === 0;
  });
}

/** Rows by their first column; null for a column that several of them share. */
function byFirst(rows: readonly Row[]): Map<string, Row | null> {
  const found = new Map<string, Row | null>();
  for (const row of rows) found.set(keyOf(row[0]), found.has(keyOf(row[0])) ? null : row);
  return found;
}

/** In the order of the later rows, those that were removed last. Rows of both have the same columns. */
export function rowDifference(before: readonly Row[], after: readonly Row[]): RowChange[] {
  const [removed, added] = [without(before, after), without(after, before)];
  const [old, fresh] = [byFirst(removed), byFirst(added)];
  const paired = new Set<Row>();
  const changes = added.map((row): RowChange => {
    const was = old.get(keyOf(row[0]));
    if (was === null || was === undefined || fresh.get(keyOf(row[0])) !== row) return { kind: 'added', row };
    paired.add(was);
    const differs = row.map((cell, column) => keyOf(cell) !== keyOf(was[column]));
    return { kind: 'changed', before: was, row, differs };
  });
  return [...changes, ...removed.filter((row) => !paired.has(row)).map((row): RowChange => ({ kind: 'removed', row }))];
}
