/**
 * In which dialect a statement is built. Nearly all that drizzle's builder for SQLite writes is Postgres too; what is
 * not is given in both forms (raw.ts), of which the one that is wanted is taken when the statement becomes text.
 */
import type { SQL } from 'drizzle-orm';
import { sql } from '../../../db/drizzle.ts';

type Dialect = 'sqlite' | 'postgres';

let building: Dialect = 'sqlite';

/** Builds statements for Postgres. `work` makes their text before it returns. */
export function inPostgres<T>(work: () => T): T {
  const before = building;
  building = 'postgres';
  try {
    return work();
  } finally {
    building = before;
  }
}

/** SQL of two forms. */
export function perDialect<T>(forms: Record<Dialect, SQL<T>>): SQL<T> {
  return sql<T>`${{ getSQL: () => forms[building], shouldOmitSQLParens: () => true }}`;
}
