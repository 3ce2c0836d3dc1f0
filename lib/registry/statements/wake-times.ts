/** Statements over durations of wakes. */
import { getTableColumns, gte, lt, placeholder } from '../../../db/drizzle.ts';
import { wakeTimes } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { plusBound } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function wakeTimeStatements(database: StatementMaker) {
  const { day, path, source, boundMs, n, sumMs } = getTableColumns(wakeTimes);
  const columns = { day, path, source, boundMs, count: n, sumMs };
  const add = database.statement((queries) =>
    queries
      .insert(wakeTimes)
      .values(boundColumns(getTableColumns(wakeTimes)))
      .onConflictDoUpdate({
        target: [day, path, source, boundMs],
        set: { n: plusBound(n, 'n'), sumMs: plusBound(sumMs, 'sumMs') },
      })
      .prepare(),
  );
  const since = database.statement((queries) =>
    queries
      .select(columns)
      .from(wakeTimes)
      .where(gte(day, placeholder('day')))
      .orderBy(day, path, source, boundMs)
      .prepare(),
  );
  const forget = database.statement((queries) =>
    queries
      .delete(wakeTimes)
      .where(lt(day, placeholder('before')))
      .prepare(),
  );
  return {
    add,
    since,
    forget,
  };
}
