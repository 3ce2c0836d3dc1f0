/**
 * Placeholders for values that are bound when a prepared statement runs. drizzle accepts them wherever a value may
 * stand, but its types only in conditions.
 */
import type { SQL } from 'drizzle-orm';
import { fillPlaceholders, placeholder } from '../../../db/drizzle.ts';
import type { Query } from './statements.ts';

/** A placeholder as the value of a column. */
export function boundValue(name: string): SQL {
  return placeholder(name) as unknown as SQL;
}

/** A placeholder for each column, with the column's name. */
export function boundColumns<C extends Record<string, unknown>>(columns: C): { [K in keyof C]: SQL } {
  return Object.fromEntries(Object.keys(columns).map((name) => [name, boundValue(name)])) as { [K in keyof C]: SQL };
}

/** A compiled query with the values of its placeholders, for reading in batches. */
export function withBindings<Row>(
  fields: Query<Row>['fields'],
  query: { toSQL(): { sql: string; params: unknown[] } },
  values: Record<string, unknown>,
): Query<Row> {
  const { sql, params } = query.toSQL();
  return { fields, toSQL: () => ({ sql, params: fillPlaceholders(params, values) }) };
}
