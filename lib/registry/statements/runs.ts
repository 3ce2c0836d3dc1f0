/** Statements over runs. */
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  isNotNull,
  isNull,
  lt,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import { instances, runs } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const { seq, ownerHost, ownerToken, ...RUN } = getTableColumns(runs);
const { id: _, instance: _2, tenant: _3, language: _4, command: _5, ...REST } = RUN;
const { cwd: _6, terminal: _7, createdMs: _8, actor: _9, ...ENDED } = REST;

export function runStatements(database: StatementMaker) {
  const byId = eq(runs.id, placeholder('id'));
  const isUnderWay = isNull(runs.endedMs);
  const ofInstance = eq(runs.instance, placeholder('instance'));
  const insert = database.statement((queries) =>
    queries
      .insert(runs)
      .values(boundColumns({ ...RUN, ownerHost }))
      .prepare(),
  );
  const update = database.statement((queries) =>
    queries.update(runs).set(boundColumns(ENDED)).where(and(byId, isUnderWay)).prepare(),
  );
  const begin = database.statement((queries) =>
    queries
      .update(runs)
      .set(boundColumns({ startedMs: RUN.startedMs }))
      .where(and(byId, isUnderWay))
      .prepare(),
  );
  const get = database.statement((queries) => queries.select(RUN).from(runs).where(and(byId, ofInstance)).prepare());
  const list = database.statement((queries) =>
    queries
      .select({ ...RUN, seq })
      .from(runs)
      .where(and(ofInstance, lt(seq, placeholder('seq'))))
      .orderBy(desc(seq))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const underWay = database.statement((queries) =>
    queries.select(RUN).from(runs).where(isUnderWay).orderBy(asc(seq)).limit(placeholder('limit')).prepare(),
  );
  const underWayOf = database.statement((queries) =>
    queries
      .select(RUN)
      .from(runs)
      .where(and(isUnderWay, or(isNull(ownerHost), eq(ownerHost, placeholder('host')))))
      .orderBy(asc(seq))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const countOf = database.statement((queries) =>
    queries.select({ n: count() }).from(runs).where(and(ofInstance, isUnderWay)).prepare(),
  );
  const countOfTenant = database.statement((queries) =>
    queries
      .select({ n: count() })
      .from(runs)
      .where(and(eq(runs.tenant, placeholder('tenant')), isUnderWay))
      .prepare(),
  );
  /** The newest of those that are too many. */
  const surplus = database.statement((queries) =>
    queries
      .select({ seq })
      .from(runs)
      .where(and(ofInstance, isNotNull(runs.endedMs)))
      .orderBy(desc(seq))
      .limit(1)
      .offset(placeholder('keep'))
      .prepare(),
  );
  const removeOlder = database.statement((queries) =>
    queries
      .delete(runs)
      .where(and(ofInstance, isNotNull(runs.endedMs), lt(seq, placeholder('seq'))))
      .prepare(),
  );
  const stateOf = database.statement((queries) =>
    queries
      .select({ state: instances.state })
      .from(instances)
      .where(eq(instances.id, placeholder('instance')))
      .prepare(),
  );
  return {
    insert,
    update,
    begin,
    get,
    list,
    underWay,
    underWayOf,
    countOf,
    countOfTenant,
    surplus,
    removeOlder,
    stateOf,
  };
}
