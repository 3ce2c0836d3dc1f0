/** Rows of agents. */
import { WinterdockError } from '../../base/errors.ts';
import type { AgentKey, AgentRow, AgentStore } from '../agents.ts';
import { isTextPairPosition, pageOfRows, readCursor } from '../cursor.ts';
import { agentKeyOf, agentStatements } from '../statements/agents.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openAgents(database: PostgresDatabase, ledger: LedgerTable): AgentStore {
  const { get, select, unfinished, insert, update, remove } = database.with(agentStatements);
  const find = async (key: AgentKey): Promise<AgentRow | null> => (await get().get(agentKeyOf(key))) ?? null;

  return {
    get: find,
    async list(tenants, limit, cursor) {
      const [afterTenant, afterName] = cursor === undefined ? ['', ''] : readCursor(cursor, isTextPairPosition);
      const bind = { afterTenant, afterName, limit: limit + 1, tenants: JSON.stringify(tenants) };
      return pageOfRows(await select(tenants !== null).all(bind), limit, ({ tenant, name }) => [tenant, name]);
    },
    unfinished: async () => await unfinished().all({}),
    async add(agent) {
      await database.write(async () => {
        if ((await insert().run({ ...agent })).changes === 1) return;
        throw new WinterdockError('conflict', `There is an agent "${agent.name}" already.`);
      });
    },
    change: (key, patch, entry) =>
      ledger.recorded(entry === undefined ? [] : [entry], async () => {
        const before = await find(key);
        if (before === null) return null;
        const after = { ...before, ...patch };
        await update().run({ ...after });
        return after;
      }),
    remove: (key, entry) =>
      ledger.recorded(
        entry === undefined ? [] : [entry],
        async () => (await remove().run(agentKeyOf(key))).changes === 1,
      ),
  };
}
