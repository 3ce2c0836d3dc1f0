/** Rows of agents. */
import { WinterdockError } from '../../base/errors.ts';
import type { AgentKey, AgentRow, AgentStore } from '../agents.ts';
import { isTextPairPosition, readCursor, writeCursor } from '../cursor.ts';
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
      const found = await select(tenants !== null).all(bind);
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: found.length > limit && last ? writeCursor([last.tenant, last.name]) : null };
    },
    unfinished: async () => await unfinished().all({}),
    async add(agent) {
      await database.write(async () => {
        if ((await insert().run({ ...agent })).changes === 1) return;
        throw new WinterdockError('conflict', `There is an agent "${agent.name}" already.`);
      });
    },
    async change(key, patch, entry) {
      const [changed, lines] = await database.write(async () => {
        const before = await find(key);
        if (before === null) return [null, []] as const;
        const after = { ...before, ...patch };
        await update().run({ ...after });
        return [after, entry === undefined ? [] : await ledger.append([entry])] as const;
      });
      await ledger.announce([...lines]);
      return changed;
    },
    async remove(key, entry) {
      const [removed, lines] = await database.write(async () => {
        const gone = (await remove().run(agentKeyOf(key))).changes === 1;
        return [gone, gone && entry !== undefined ? await ledger.append([entry]) : []] as const;
      });
      await ledger.announce([...lines]);
      return removed;
    },
  };
}
