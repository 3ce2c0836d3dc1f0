/** Rows of agents. */
import { and, asc, eq, getTableColumns, gt, isNotNull, or, placeholder } from '../../../db/drizzle.ts';
import { agents } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { AgentKey, AgentRow, AgentStore } from '../agents.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { inBoundList } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const COLUMNS = getTableColumns(agents);
const { tenant, name, snapshot, making, replaced } = agents;

export function openAgents(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<AgentStore> {
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
  const keyOf = (key: AgentKey) => ({ tenant: key.tenant, name: key.name });
  const find = (key: AgentKey): AgentRow | null => get().get(keyOf(key)) ?? null;

  return {
    get: find,
    list(tenants, limit, cursor) {
      const [afterTenant, afterName] = cursor === undefined ? ['', ''] : readCursor(cursor, isPosition);
      const bind = { afterTenant, afterName, limit: limit + 1, tenants: JSON.stringify(tenants) };
      const found = select(tenants !== null).all(bind);
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: found.length > limit && last ? writeCursor([last.tenant, last.name]) : null };
    },
    unfinished: () => unfinished().all({}),
    add(agent) {
      database.write(() => {
        if (insert().run({ ...agent }).changes === 1) return;
        throw new WinterdockError('conflict', `There is an agent "${agent.name}" already.`);
      });
    },
    change(key, patch, entry) {
      const [changed, lines] = database.write(() => {
        const before = find(key);
        if (before === null) return [null, []] as const;
        const after = { ...before, ...patch };
        update().run({ ...after });
        return [after, entry === undefined ? [] : ledger.append([entry])] as const;
      });
      ledger.announce([...lines]);
      return changed;
    },
    remove(key, entry) {
      const [removed, lines] = database.write(() => {
        const gone = remove().run(keyOf(key)).changes === 1;
        return [gone, gone && entry !== undefined ? ledger.append([entry]) : []] as const;
      });
      ledger.announce([...lines]);
      return removed;
    },
  };
}

function isPosition(position: unknown[]): position is [string, string] {
  return position.length === 2 && position.every((part) => typeof part === 'string');
}
