/**
 * Agents: files under a name of a tenant, which sessions begin with, kept as a snapshot. Deploying one again puts files
 * over those it has and names the new snapshot in one transaction, so that an agent is always the old one or the new
 * one. Knows nothing of HTTP.
 *
 * The row says what is half done before it is: the sandbox that is filled, then the snapshot that was replaced. Whoever
 * deploys it next, and every start, clears up after a server that died between.
 */
import { randomUUID } from 'node:crypto';
import { Mutex } from 'async-mutex';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { isWinterdockError, messageOf, publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { AgentKey, AgentRow } from '../registry/agents.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry, RowPage } from '../registry/types.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsPath } from '../vfs/paths.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/types.ts';
import { DEFAULT_POLICY } from '../workers/protocol/policies.ts';
import type { SeededAs, Seeding } from './seeding.ts';
import type { Snapshots } from './snapshots.ts';

/** The label of a sandbox that an agent's files are put into: the name of that agent. It is no session. */
export const MAKING_LABEL = 'ash-making';

/** The failpoints of a deployment, in order. */
export const AGENT_STEPS = ['deploy.noted', 'deploy.filled', 'deploy.kept', 'deploy.named', 'deploy.cleared'] as const;
export type AgentStep = (typeof AGENT_STEPS)[number];

/** What a deployment changes. Absent members stay as they are. */
export interface AgentChange {
  files?: readonly (readonly [path: VfsPath, content: Uint8Array])[];
  /** Throws `not_found` for one that there is not. */
  remove?: VfsPath;
  /** A file for an agent without files: of a new one that is given none. */
  placeholder?: readonly [path: VfsPath, content: Uint8Array];
  description?: string | null;
  model?: string | null;
  env?: Record<string, string>;
}

export interface Agents {
  /** Throws `not_found`, also for one that is being made for the first time. */
  get(key: AgentKey): Promise<AgentRow>;
  list(tenants: readonly string[] | null, limit: number, cursor?: string): Promise<RowPage<AgentRow>>;
  /** Answers one read of its files. Throws `not_found`, `missing_file`, `corrupt`. */
  read<R extends ReadRequest>(key: AgentKey, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  /**
   * Makes an agent, or changes the one of that name: all of the change or nothing. Deployments of one agent follow each
   * other. Throws `not_found` with `mustExist` for one that there is not, `conflict`, `quota_exceeded`, `too_large`.
   */
  deploy(key: AgentKey, change: AgentChange, cause: AuditContext, options?: { mustExist?: boolean }): Promise<AgentRow>;
  /** Its sessions keep what they have. Throws `not_found`. */
  delete(key: AgentKey, cause: AuditContext): Promise<AgentRow>;
  /** A new sandbox with its files. Throws `not_found`, `conflict`, `corrupt`, `missing_file`, `quota_exceeded`. */
  seed(key: AgentKey, made: SeededAs, cause: AuditContext): Promise<InstanceRow>;
  /** Clears up what an earlier server left half done. */
  start(): Promise<void>;
}

export function createAgents(parts: {
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'write' | 'runPlan'>;
  snapshots: Snapshots;
  seeding: Seeding;
  failpoint?: ((step: AgentStep) => void) | undefined;
}): Agents {
  const { clock, registry, sandboxes, snapshots, seeding } = parts;
  const store = registry.agents;
  const failpoint = parts.failpoint ?? (() => undefined);
  const turns = new Map<string, { mutex: Mutex; users: number }>();

  /** Deployments of one agent, one at a time. */
  const inTurn = async <T>({ tenant, name }: AgentKey, work: () => Promise<T>): Promise<T> => {
    const key = `${tenant}/${name}`;
    const turn = turns.get(key) ?? { mutex: new Mutex(), users: 0 };
    turns.set(key, turn);
    turn.users += 1;
    try {
      return await turn.mutex.runExclusive(work);
    } finally {
      turn.users -= 1;
      if (turn.users === 0) turns.delete(key);
    }
  };

  const lineOf = (key: AgentKey, cause: AuditContext, type: string, extra: Partial<LedgerEntry>) =>
    ledgerEntry(parts, null, cause, type, { tenant: key.tenant, ...extra });

  const get = async (key: AgentKey): Promise<AgentRow & { snapshot: string }> => {
    const row = await store.get(key);
    if (row !== null && row.snapshot !== null) return { ...row, snapshot: row.snapshot };
    throw new WinterdockError('not_found', `There is no agent "${key.name}".`);
  };

  /** Nothing more is lost when a snapshot is gone already. */
  const forget = async (snapshot: string, cause: AuditContext): Promise<void> => {
    try {
      await snapshots.delete(snapshot, cause);
    } catch (error) {
      if (!isWinterdockError(error) || error.code !== 'not_found') throw error;
    }
  };

  /** Undoes what is half done: what was kept of a filled sandbox, that sandbox, and what was replaced. */
  const clearUp = async (row: AgentRow, cause: AuditContext): Promise<AgentRow | null> => {
    const { making, replaced, snapshot } = row;
    if (making !== null) {
      const { rows } = await snapshots.list({ tenant: row.tenant, source: making }, 10);
      for (const { id } of rows) if (id !== snapshot) await forget(id, cause);
      const left = await registry.instances.get(making);
      if (left !== null && left.state !== 'deleted') await sandboxes.runPlan(making, 'deleted', cause, { force: true });
    }
    if (replaced !== null && replaced !== snapshot) await forget(replaced, cause);
    if (snapshot !== null) return store.change(row, { making: null, replaced: null });
    await store.remove(row);
    return null;
  };

  /** What cannot be cleared up now is so at the next deployment or start. */
  const clearUpOrLater = async (row: AgentRow, cause: AuditContext): Promise<void> => {
    await clearUp(row, cause).catch((error: unknown) =>
      parts.log.warn({ error: messageOf(error), agent: row.name }, 'an agent is half done'),
    );
  };

  /** An empty sandbox, or one with what the agent has, which is deleted by itself should the server die. */
  const moulded = async (
    id: InstanceId,
    key: AgentKey,
    snapshot: string | null,
    cause: AuditContext,
  ): Promise<void> => {
    const labels = { [MAKING_LABEL]: key.name };
    const intact = snapshot === null ? null : await snapshots.getIntact(snapshot);
    if (intact !== null) {
      await seedFrom(intact.id, { tenant: key.tenant, id, labels, ephemeral: true }, cause);
      return;
    }
    const line = ledgerEntry(parts, { id, tenant: key.tenant }, cause, 'instance.created', { to: 'created' });
    const none = { name: null, vfsPath: null, keepHot: false, hotToWarmSeconds: null, workbook: null };
    const never = { idleToSuspendSeconds: null, idleToFreezeSeconds: null, workbookVersion: null };
    const lineage = { lineageBlueprint: null, lineageSnapshot: null, lineageParent: null };
    const made = { id, tenant: key.tenant, labels, ephemeral: true, policy: DEFAULT_POLICY };
    await registry.instances.create({ ...none, ...never, ...lineage, ...made }, epochSeconds(clock), line);
  };

  const seedFrom = async (
    snapshot: string,
    { tenant, ...made }: SeededAs & { tenant: string },
    cause: AuditContext,
  ): Promise<InstanceRow> => {
    const lineage = { blueprint: null, snapshot, parent: null };
    const request = { tenant, count: 1, name: null, policy: DEFAULT_POLICY, lineage, start: false, ...made };
    const [row] = await seeding.seed({ snapshot }, request, cause);
    if (row === undefined) throw new WinterdockError('internal', 'A restore made nothing.');
    return row;
  };

  /** Puts files over those of an agent and keeps the result. Returns its row, which names the new snapshot. */
  const refill = async (row: AgentRow, change: AgentChange, cause: AuditContext): Promise<AgentRow> => {
    const { making } = row;
    if (making === null) throw new WinterdockError('internal', 'A deployment has no sandbox.');
    await moulded(making, row, row.snapshot, cause);
    for (const [path, content] of change.files ?? []) {
      await sandboxes.write(making, { op: 'put', volume: 'workspace', path, content }, cause);
    }
    const { remove } = change;
    if (remove !== undefined) await sandboxes.write(making, { op: 'delete', volume: 'workspace', path: remove }, cause);
    failpoint('deploy.filled');
    const { id: snapshot } = await snapshots.take(making, `agent ${row.name.slice(0, 150)}`, cause);
    failpoint('deploy.kept');
    const named = await store.change(
      row,
      { ...metadataOf(change), snapshot, replaced: row.snapshot, version: row.version + 1, ...by(cause) },
      lineOf(row, cause, 'agent.deployed', { reason: `${row.name}, version ${row.version + 1}, ${snapshot}` }),
    );
    if (named === null) throw new WinterdockError('conflict', `The agent "${row.name}" was deleted meanwhile.`);
    failpoint('deploy.named');
    return named;
  };

  const by = (cause: AuditContext) => ({ updated: epochSeconds(clock), updatedBy: cause.actor });

  /** The row that a deployment goes on from: nothing of it is half done. Null: there is none. */
  const settled = async (key: AgentKey, cause: AuditContext): Promise<AgentRow | null> => {
    const row = await store.get(key);
    const isHalfDone = row !== null && (row.making !== null || row.replaced !== null || row.snapshot === null);
    return isHalfDone ? clearUp(row, cause) : row;
  };

  /** A snapshot of it that somebody deleted: its files are those of the next deployment alone. */
  const withoutLostFiles = async (row: AgentRow | null): Promise<AgentRow | null> => {
    if (row?.snapshot == null) return row;
    const kept = await registry.copies.snapshot(row.snapshot);
    return kept === null || kept.deleted !== null ? { ...row, snapshot: null } : row;
  };

  const deploy: Agents['deploy'] = (key, given, cause, { mustExist = false } = {}) =>
    inTurn(key, async () => {
      const before = await withoutLostFiles(await settled(key, cause));
      if (before === null && mustExist) await get(key);
      const { placeholder, ...change } = given;
      const hasFiles = (change.files?.length ?? 0) > 0 || change.remove !== undefined;
      if (before !== null && !hasFiles) {
        const line = lineOf(key, cause, 'agent.changed', { reason: `${key.name}: ${Object.keys(change).join(', ')}` });
        const changed = await store.change(key, { ...metadataOf(change), ...by(cause) }, line);
        if (changed !== null) return changed;
      }
      const making = newId('sb');
      if (before === null) await store.add({ ...newRow(key), created: epochSeconds(clock), ...by(cause), making });
      else await store.change(key, { making });
      failpoint('deploy.noted');
      const files = hasFiles || placeholder === undefined ? change.files : [placeholder];
      const start = { ...(before ?? newRow(key)), created: 0, ...by(cause), making };
      let named: AgentRow;
      try {
        named = await refill(start, { ...change, ...(files === undefined ? {} : { files }) }, cause);
      } catch (error) {
        const failed = lineOf(key, cause, 'agent.failed', { reason: key.name, error: publicMessage(error) });
        await registry.ledger.append([failed]);
        const row = await store.get(key);
        if (row !== null) await clearUpOrLater(row, cause);
        throw error;
      }
      await clearUpOrLater(named, cause);
      failpoint('deploy.cleared');
      return named;
    });

  return {
    get,
    list: (tenants, limit, cursor) => store.list(tenants, limit, cursor),
    read: async (key, request) => snapshots.read((await get(key)).snapshot, request),
    deploy,
    delete: (key, cause) =>
      inTurn(key, async () => {
        const row = await get(key);
        await clearUp(row, cause);
        const line = lineOf(key, cause, 'agent.deleted', { reason: `${key.name}, version ${row.version}` });
        const ended = await store.change(key, { snapshot: null, replaced: row.snapshot }, line);
        if (ended !== null) await clearUp(ended, cause);
        return row;
      }),
    async seed(key, made, cause) {
      const { snapshot } = await get(key);
      try {
        await snapshots.getIntact(snapshot);
      } catch (error) {
        if (!isWinterdockError(error) || error.code !== 'not_found') throw error;
        throw new WinterdockError('missing_file', `The files of the agent "${key.name}" were deleted.`, {
          hint: 'Deploy it again.',
        });
      }
      return seedFrom(snapshot, { tenant: key.tenant, ...made }, cause);
    },
    async start() {
      const cause = systemAudit('boot', 'system');
      for (const row of await store.unfinished()) await inTurn(row, () => clearUpOrLater(row, cause));
    },
  };
}

/** A row before its first deployment. */
function newRow({ tenant, name }: AgentKey): AgentRow {
  const nothing = { snapshot: null, making: null, replaced: null, description: null, model: null };
  return { tenant, name, id: randomUUID(), version: 0, ...nothing, env: {}, created: 0, updated: 0, updatedBy: '' };
}

function metadataOf({ description, model, env }: AgentChange): Partial<AgentRow> {
  return {
    ...(description === undefined ? {} : { description }),
    ...(model === undefined ? {} : { model }),
    ...(env === undefined ? {} : { env }),
  };
}
