/** Operations on agents: a tenant's own files under a name, which sessions begin with. */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Instance } from '../contract/schema.ts';
import type { AgentChange, Agents } from '../copies/agents.ts';
import type { SeededAs } from '../copies/seeding.ts';
import type { AgentRow } from '../registry/agents.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsPath } from '../vfs/paths.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';
import { createInstanceSerializer } from './serializer.ts';

export interface AgentOperations {
  /** By name. */
  listAgents(caller: Caller, query: { tenant?: string; limit: number; cursor?: string }): Promise<ListPage<AgentRow>>;
  getAgent(caller: Caller, tenant: string, name: string): Promise<AgentRow>;
  /** Makes one, or puts files over those of the one of that name. Throws `not_found` with `mustExist`. */
  deployAgent(
    caller: Caller,
    tenant: string,
    name: string,
    change: AgentChange,
    options?: { mustExist?: boolean },
  ): Promise<AgentRow>;
  deleteAgent(caller: Caller, tenant: string, name: string): Promise<AgentRow>;
  /** A new sandbox with its files. */
  seedFromAgent(caller: Caller, tenant: string, name: string, made: SeededAs): Promise<Instance>;
  agentFiles(
    caller: Caller,
    tenant: string,
    name: string,
    query: { limit: number; cursor?: string },
  ): Promise<ListPage<{ path: string; size: number; mtime: number }>>;
  /** Throws `not_found` for an agent or a file that there is not. */
  agentFile(caller: Caller, tenant: string, name: string, path: VfsPath): Promise<Uint8Array>;
}

export function agentOperations(parts: {
  agents: Agents;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live'>;
  clock: Clock;
}): AgentOperations {
  const { agents } = parts;
  const { serialize } = createInstanceSerializer(parts);
  return {
    async listAgents({ tenants }, { tenant, limit, cursor }) {
      const { rows, next } = await agents.list(tenant === undefined ? tenants : [tenant], limit, cursor);
      return { items: rows, next };
    },
    getAgent: (_caller, tenant, name) => agents.get({ tenant, name }),
    deployAgent: (caller, tenant, name, change, options) =>
      agents.deploy({ tenant, name }, change, auditContextOf(caller), options),
    deleteAgent: (caller, tenant, name) => agents.delete({ tenant, name }, auditContextOf(caller)),
    seedFromAgent: async (caller, tenant, name, made) =>
      serialize(await agents.seed({ tenant, name }, made, auditContextOf(caller))),
    async agentFiles(_caller, tenant, name, { limit, cursor }) {
      const after = cursor === undefined ? {} : { after: cursor };
      const { files, next } = await agents.read({ tenant, name }, { op: 'list', volume: 'workspace', limit, ...after });
      return { items: files, next };
    },
    async agentFile(_caller, tenant, name, path) {
      const { stat, content } = await agents.read({ tenant, name }, { op: 'get', volume: 'workspace', path });
      if (stat !== null) return content ?? new Uint8Array();
      throw new WinterdockError('not_found', `There is no file "${path}" in the agent "${name}".`);
    },
  };
}
