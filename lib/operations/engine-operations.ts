/**
 * The operations over the real engine: contract input in, registry and sessions called, contract objects out. Holds no
 * state and no policy of its own; what a sandbox may do is decided below.
 */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CreateInput, ExecInput, PatchInput, Settings } from '../contract/schema.ts';
import type { Metrics } from '../health/metrics.ts';
import type { WriteOperation, WriteOutcome } from '../instance/instance.ts';
import { DEFAULT_POLICY } from '../instance/policies.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry, Thresholds } from '../registry/types.ts';
import { LEASE_SECONDS } from '../sessions/attachments.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { normalisePath } from '../vfs/paths.ts';
import { asVolume } from '../vfs/volumes.ts';
import { causeOf } from './audit-context.ts';
import { etagOf, writeConditionOf } from './conditions.ts';
import { readingOperations } from './engine-reading.ts';
import { listFilterOf, stuckSince } from './list-filter.ts';
import type { EngineOperations } from './operations.ts';
import { outputsOf, pieceOf } from './outputs.ts';
import { createPrivateReads } from './private-reads.ts';
import { requireTag } from './settings-tag.ts';
import { showing } from './showing.ts';

export interface EngineParts {
  registry: Registry;
  sessions: Sessions;
  clock: Clock;
  metrics: Pick<Metrics, 'resumedWarm' | 'text'>;
}

const COUNT_CAP = 10_000;

/** Makes the operations. */
export function createOperations(parts: EngineParts): EngineOperations {
  const { registry, sessions, clock, metrics } = parts;
  const now = () => epochSeconds(clock);

  const entry = (
    caller: Caller,
    row: { id: string; tenant: string } | null,
    type: string,
    extra?: Partial<LedgerEntry>,
  ): LedgerEntry => ledgerEntry({ clock }, row, causeOf(caller), type, extra);

  const { show, showAll } = showing(parts);

  const rowOf = async (id: string): Promise<InstanceRow> => {
    const row = await registry.instances.get(id);
    if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
    if (row.state === 'deleted') {
      throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`, { hint: 'Its id is never used again.' });
    }
    return row;
  };

  const write = (caller: Caller, id: string, operation: WriteOperation): Promise<WriteOutcome> =>
    sessions.write(id, operation, causeOf(caller));

  return {
    ...readingOperations({ registry, sessions, rowOf, privateRead: createPrivateReads({ registry, clock, rowOf }) }),

    async listInstances({ tenants }, query) {
      const filter = listFilterOf(query, tenants, now());
      if (filter === null) return { items: [], next: null, total: 0, totalIsExact: true };
      const reverse = query.sort.startsWith('-');
      const page = await registry.instances.list({
        ...filter,
        sort: (reverse ? query.sort.slice(1) : query.sort) as 'updated' | 'created' | 'name' | 'bytes',
        reverse,
        limit: query.limit,
        ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
      });
      const total = await registry.instances.count(filter, COUNT_CAP);
      const totalIsExact = total <= COUNT_CAP;
      return {
        items: await showAll(page.rows),
        next: page.next,
        total: totalIsExact ? total : COUNT_CAP,
        totalIsExact,
      };
    },

    async createInstance(caller, input: CreateInput) {
      const id = input.id ?? newId('sb');
      const inMemory = input.vfs_path !== undefined;
      const row = await registry.instances.create(
        {
          id,
          tenant: input.tenant,
          name: input.name ?? null,
          vfsPath: input.vfs_path ?? null,
          ephemeral: inMemory || (input.ephemeral ?? false),
          policy: input.policy ?? DEFAULT_POLICY,
          keepHot: input.keep_hot ?? false,
          idleToSuspendSeconds: input.idle_to_suspend_s ?? input.timeout_secs ?? null,
          idleToFreezeSeconds: input.idle_to_freeze_s ?? null,
          labels: input.labels ?? {},
          workbook: input.workbook ?? null,
          lineageBlueprint: null,
          lineageSnapshot: null,
          lineageParent: null,
        },
        now(),
        entry(caller, { id, tenant: input.tenant }, 'instance.created', { to: 'created' }),
      );
      return show(row);
    },

    getInstance: async (_caller, id) => show(await rowOf(id)),

    async patchInstance(caller, id, input: PatchInput, condition) {
      const ifMatch = condition?.ifMatch ?? null;
      const idleToSuspendSeconds = input.idle_to_suspend_s === undefined ? input.timeout_secs : input.idle_to_suspend_s;
      const row = await rowOf(id);
      if (ifMatch !== null) requireTag(row, ifMatch);
      const patched = await registry.instances.patch(
        id,
        {
          ...(input.name === undefined ? {} : { name: input.name }),
          ...(input.labels === undefined ? {} : { labels: input.labels }),
          ...(input.keep_hot === undefined ? {} : { keepHot: input.keep_hot }),
          ...(input.hold_until === undefined ? {} : { holdUntil: input.hold_until }),
          ...(idleToSuspendSeconds === undefined ? {} : { idleToSuspendSeconds }),
          ...(input.idle_to_freeze_s === undefined ? {} : { idleToFreezeSeconds: input.idle_to_freeze_s }),
          ...(input.policy === undefined ? {} : { policy: input.policy }),
          ...(input.workbook === undefined ? {} : { workbook: input.workbook }),
        },
        now(),
        entry(caller, row, 'instance.changed', { reason: Object.keys(input).join(', ') }),
        ifMatch === null ? undefined : row,
      );
      return show(patched ?? (await rowOf(id)));
    },

    async resume(caller, id, input) {
      const resumed = await sessions.resume(id, causeOf(caller, input.reason), {
        ...(input.policy === undefined ? {} : { policy: input.policy }),
        ...(input.force === undefined ? {} : { force: input.force }),
      });
      if (resumed.path === 'warm') metrics.resumedWarm(resumed.tookMs / 1000);
      return {
        path: resumed.path,
        ...(resumed.path === 'warm' ? { result: 'already_active' as const } : {}),
        ...(resumed.source === null ? {} : { source: resumed.source }),
        vfs_path: resumed.vfsPath,
        took_ms: resumed.tookMs,
        instance: await show(resumed.row),
      };
    },

    async prefetch(caller, id) {
      const { source, vfsPath } = await sessions.prefetch(id, causeOf(caller));
      return { source, vfs_path: vfsPath };
    },

    suspend: async (caller, id, { reason, force }) =>
      show(await sessions.suspend(id, causeOf(caller, reason), { force })),
    freeze: async (caller, id, { reason, force }) =>
      show(await sessions.freeze(id, causeOf(caller, reason), { force })),
    archive: async (caller, id, { reason, force }) =>
      show(await sessions.archive(id, causeOf(caller, reason), { force })),
    revive: async (caller, id, { reason, force }) =>
      show(await sessions.revive(id, causeOf(caller, reason), { force })),
    settle: async (caller, id) => show(await sessions.settle(id, causeOf(caller))),
    deleteInstance: (caller, id, input) => sessions.delete(id, causeOf(caller, input?.reason)),

    async exec(
      caller,
      id,
      { command, cwd, env, encoding, timeout_ms: timeoutMs, ...input },
      { onOutput, ...options } = {},
    ) {
      const request = { command, cwd, env, stdin: stdinOf(input), timeoutMs };
      const done = await sessions.exec(id, request, causeOf(caller), {
        ...options,
        ...(onOutput && { onOutput: ({ stream, text }) => onOutput({ stream, ...pieceOf(text, encoding) }) }),
      });
      return {
        exit_code: done.exitCode,
        ...outputsOf(done, encoding),
        cwd: done.cwd,
        timed_out: done.timedOut,
        truncated: done.truncated,
        took_ms: done.tookMs,
        woke: done.woke,
      };
    },

    async eval(caller, id, { language, code, encoding, timeout_ms: timeoutMs }, signal) {
      const done = await sessions.eval(id, { language, code, timeoutMs }, causeOf(caller), signal ? { signal } : {});
      return {
        ok: done.ok,
        ...(done.value === undefined ? {} : { value: done.value }),
        ...outputsOf(done, encoding),
        ...(done.error === undefined ? {} : { error: done.error }),
        timed_out: done.timedOut,
        took_ms: done.tookMs,
        woke: done.woke,
      };
    },

    async attach(_caller, id, attachment) {
      await sessions.attach(id, attachment);
      return { attachment, lease_s: LEASE_SECONDS };
    },

    async detach(_caller, id, attachment) {
      sessions.detach(id, attachment);
    },

    async putFile(caller, id, volume, path, content, condition) {
      const outcome = await write(caller, id, {
        op: 'put',
        volume: asVolume(volume),
        path: normalisePath(path),
        content,
        condition: writeConditionOf(condition ?? {}),
      });
      return { created: outcome.created, etag: etagOf(outcome.stat?.version ?? 0) };
    },

    async deleteFile(caller, id, volume, path, condition) {
      await write(caller, id, {
        op: 'delete',
        volume: asVolume(volume),
        path: normalisePath(path),
        condition: writeConditionOf(condition ?? {}),
      });
    },

    async moveFile(caller, id, volume, from, to) {
      await write(caller, id, {
        op: 'move',
        volume: asVolume(volume),
        from: normalisePath(from),
        to: normalisePath(to),
      });
    },

    async makeFolder(caller, id, volume, path) {
      await write(caller, id, { op: 'mkdir', volume: asVolume(volume), path: normalisePath(path) });
    },

    async deleteFolder(caller, id, volume, path, recursive) {
      await write(caller, id, { op: 'rmdir', volume: asVolume(volume), path: normalisePath(path), recursive });
    },

    getSettings: async () => settingsOf(await registry.thresholds.global()),

    async patchSettings(caller, patch) {
      const changed = await registry.thresholds.setGlobal(
        {
          ...(patch.idle_to_suspend_s === undefined ? {} : { idleToSuspendSeconds: patch.idle_to_suspend_s }),
          ...(patch.idle_to_freeze_s === undefined ? {} : { idleToFreezeSeconds: patch.idle_to_freeze_s }),
        },
        entry(caller, null, 'settings.changed', {
          reason: Object.entries(patch)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
        }),
      );
      return settingsOf(changed);
    },

    async counts({ tenants }) {
      const among = tenants ?? undefined;
      const whose = among === undefined ? {} : { tenants: among };
      return {
        states: await registry.instances.countsByState(among),
        faults: await registry.instances.countsByFault(among),
        pending: await registry.instances.count({ ...whose, pending: {} }, COUNT_CAP),
        stuck: await registry.instances.count({ ...whose, pending: { until: stuckSince(now()) } }, COUNT_CAP),
      };
    },

    async due({ tenants }, withinSeconds, limit) {
      const rows = await registry.instances.dueUntil(now() + withinSeconds, limit, tenants ?? undefined);
      return Promise.all(rows.map(({ row, thresholds }) => show(row, thresholds)));
    },

    async dueCounts({ tenants }, { seconds, slots }) {
      const from = now();
      const counted = await registry.instances.dueCounts({ from, seconds, slots }, tenants ?? undefined);
      return counted.map((to, slot) => ({ from: from + slot * seconds, until: from + (slot + 1) * seconds - 1, to }));
    },

    metricsText: () => metrics.text(),
  };
}

function stdinOf({ stdin, stdin_base64 }: Pick<ExecInput, 'stdin' | 'stdin_base64'>): Uint8Array | undefined {
  if (stdin_base64 !== undefined) return Buffer.from(stdin_base64, 'base64');
  return stdin === undefined ? undefined : Buffer.from(stdin);
}

function settingsOf(thresholds: Thresholds): Settings {
  return { idle_to_suspend_s: thresholds.idleToSuspendSeconds, idle_to_freeze_s: thresholds.idleToFreezeSeconds };
}
