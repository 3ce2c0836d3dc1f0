/** Rows of agents. */
import { WinterdockError } from '../../base/errors.ts';
import type { AgentKey, AgentRow, AgentStore } from '../agents.ts';
import { isTextPairPosition, pageOfRows, readCursor } from '../cursor.ts';
import { agentKeyOf, agentStatements } from '../statements/agents.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openAgents(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<AgentStore> {
  const { get, select, unfinished, insert, update, remove } = agentStatements(database);
  const find = (key: AgentKey): AgentRow | null => get().get(agentKeyOf(key)) ?? null;

  return {
    get: find,
    list(tenants, limit, cursor) {
      const [afterTenant, afterName] = cursor === undefined ? ['', ''] : readCursor(cursor, isTextPairPosition);
      const bind = { afterTenant, afterName, limit: limit + 1, tenants: JSON.stringify(tenants) };
      return pageOfRows(select(tenants !== null).all(bind), limit, ({ tenant, name }) => [tenant, name]);
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
        const gone = remove().run(agentKeyOf(key)).changes === 1;
        return [gone, gone && entry !== undefined ? ledger.append([entry]) : []] as const;
      });
      ledger.announce([...lines]);
      return removed;
    },
  };
}
