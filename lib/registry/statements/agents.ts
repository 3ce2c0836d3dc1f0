/** Statements over agents of the session API. */
import { and, asc, eq, getTableColumns, gt, isNotNull, or, placeholder } from '../../../db/drizzle.ts';
import { agents } from '../../../db/schema.ts';
import type { AgentKey } from '../agents.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const COLUMNS = getTableColumns(agents);
const { tenant, name, snapshot, making, replaced } = agents;

/** What identifies an agent. */
export const agentKeyOf = (key: AgentKey) => ({ tenant: key.tenant, name: key.name });

export function agentStatements(database: StatementMaker) {
  const isIt = and(eq(tenant, placeholder('tenant')), eq(name, placeholder('name')));
  const get = database.statement((queries) => queries.select(COLUMNS).from(agents).where(isIt).prepare());
  const select = (among: boolean) =>
    database.shape(`agents: ${among ? 'of tenants' : 'all'}`, (queries) =>
      queries
        .select(COLUMNS)
        .from(agents)
        .where(
          and(
            isNotNull(snapshot),
            or(
              gt(tenant, placeholder('afterTenant')),
              and(eq(tenant, placeholder('afterTenant')), gt(name, placeholder('afterName'))),
            ),
            ...(among ? [inBoundList(tenant, 'tenants')] : []),
          ),
        )
        .orderBy(asc(tenant), asc(name))
        .limit(placeholder('limit'))
        .prepare(),
    );
  const unfinished = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(agents)
      .where(or(isNotNull(making), isNotNull(replaced)))
      .prepare(),
  );
  const insert = database.statement((queries) =>
    queries.insert(agents).values(boundColumns(COLUMNS)).onConflictDoNothing().prepare(),
  );
  const update = database.statement((queries) => {
    const { tenant: _tenant, name: _name, id: _id, ...changed } = COLUMNS;
    return queries.update(agents).set(boundColumns(changed)).where(isIt).prepare();
  });
  const remove = database.statement((queries) => queries.delete(agents).where(isIt).prepare());
  return {
    get,
    select,
    unfinished,
    insert,
    update,
    remove,
  };
}
