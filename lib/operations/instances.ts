/**
 * Operations on sandboxes as rows: list, create, show, change, and the counts of the overview. Waking and filing are in
 * moves.ts, calls in calls.ts, what a sandbox holds in files.ts.
 */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import { LABEL_COUNT } from '../contract/schema/creation.ts';
import type { CreateInput, Instance, ListQuery, PatchInput } from '../contract/schema.ts';
import type { NextMove } from '../lifecycle/ladder.ts';
import type { State } from '../lifecycle/state-map.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { MEMORY, requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { noNativeInMemory } from '../workers/pool-errors.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';
import { DEFAULT_POLICY, isNative } from '../workers/protocol/policies.ts';
import { auditContextOf } from './audit-context.ts';
import { dockingOf, dockingTo, dockingWords } from './docking.ts';
import { listFilterOf, stuckSince } from './list-filter.ts';
import type { ListPage } from './list-page.ts';
import { createInstanceSerializer } from './serializer.ts';
import { requireTag } from './settings-tag.ts';
import { warmCount } from './warm-count.ts';

/** How many sandboxes move by themselves in a span of time (epoch seconds, both ends inclusive), by target state. */
interface DueSpan {
  from: number;
  until: number;
  to: Readonly<Record<NextMove['state'], number>>;
  /** There are at least as many; the rest was not counted. */
  isCut: boolean;
}

export interface InstanceOperations {
  /** `total` is exact up to 10 000; up to 1 000 when the query has a text. */
  listInstances(
    caller: Caller,
    query: ListQuery,
  ): Promise<ListPage<Instance> & { total: number; totalIsExact: boolean }>;
  createInstance(caller: Caller, input: CreateInput): Promise<Instance>;
  /** `deleted`: also the tombstone of one that was deleted, instead of `gone`. */
  getInstance(caller: Caller, id: InstanceId, options?: { deleted?: boolean }): Promise<Instance>;
  /** `ifMatch`: the tags of which one must still hold; throws `precondition_failed`. */
  patchInstance(
    caller: Caller,
    id: InstanceId,
    input: PatchInput,
    condition?: { ifMatch?: string | null },
  ): Promise<Instance>;
  /** Sets labels, and removes those that are null; the others stay, whoever changes them meanwhile. */
  relabelInstance(caller: Caller, id: InstanceId, labels: Readonly<Record<string, string | null>>): Promise<Instance>;
  /**
   * The overview's counts of what the caller may see: sandboxes by state and by fault, which the registry maintains,
   * how many of the active ones are warm, and operations under way, the stuck ones apart (each up to 10 001).
   */
  counts(caller: Caller): Promise<{
    states: Record<State, number>;
    faults: Record<string, number>;
    warm: number;
    pending: number;
    stuck: number;
  }>;
  /** Sandboxes with an automatic move within `withinSeconds`, soonest first. */
  due(caller: Caller, withinSeconds: number, limit: number): Promise<Instance[]>;
  /** Automatic moves in each of the coming `slots` spans of `seconds`. Overdue ones count in the first span. */
  dueCounts(caller: Caller, spans: { seconds: number; slots: number }): Promise<DueSpan[]>;
}

const COUNT_CAP = 10_000;
/** A match of a text is counted by reading its row. */
const TEXT_COUNT_CAP = 1000;
/** Moves counted of each span: twelve full ones take 15 ms, which a page that everybody has open may cost. */
const DUE_CAP = 2000;

export function instanceOperations(parts: {
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live' | 'warmIds' | 'reclassified' | 'requireRecordable'>;
  clock: Clock;
  pool: Pick<InstancePool, 'requirePolicy'>;
}): InstanceOperations {
  const { registry, sandboxes, clock, pool } = parts;
  const { serialize, serializeAll } = createInstanceSerializer(parts);
  const now = () => epochSeconds(clock);

  return {
    async listInstances({ tenants }, query) {
      const filter = listFilterOf(query, { tenants, now: now(), warmIds: sandboxes.warmIds });
      if (filter === null) return { items: [], next: null, total: 0, totalIsExact: true };
      const reverse = query.sort.startsWith('-');
      const page = await registry.instances.list({
        ...filter,
        sort: (reverse ? query.sort.slice(1) : query.sort) as 'updated' | 'created' | 'name' | 'bytes',
        reverse,
        limit: query.limit,
        ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
      });
      const cap = filter.text === undefined ? COUNT_CAP : TEXT_COUNT_CAP;
      const { n, isExact } = await registry.instances.total(filter, cap);
      return {
        items: await serializeAll(page.rows),
        next: page.next,
        total: Math.max(n, page.rows.length),
        totalIsExact: isExact,
      };
    },

    async createInstance(caller, input) {
      const id = input.id ?? newId('sb');
      sandboxes.requireRecordable({ id, tenant: input.tenant, replicate: input.replicate ?? null });
      const inMemory = input.vfs_path !== undefined;
      requirePrograms(pool, input.policy, inMemory);
      const docking = input.workbook === undefined ? null : await dockingTo(parts, input.tenant, input.workbook);
      const row = await registry.instances.create(
        {
          id,
          tenant: input.tenant,
          name: input.name ?? null,
          vfsPath: input.vfs_path ?? null,
          ephemeral: inMemory || (input.ephemeral ?? false),
          policy: input.policy ?? DEFAULT_POLICY,
          keepHot: input.keep_hot ?? false,
          hotToWarmSeconds: input.hot_to_warm_s ?? null,
          idleToSuspendSeconds: input.idle_to_suspend_s ?? input.timeout_secs ?? null,
          idleToFreezeSeconds: input.idle_to_freeze_s ?? null,
          replicate: input.replicate ?? null,
          labels: input.labels ?? {},
          workbook: docking?.workbook ?? null,
          workbookVersion: docking?.workbookVersion ?? null,
          lineageBlueprint: null,
          lineageSnapshot: null,
          lineageParent: null,
        },
        now(),
        ledgerEntry(parts, { id, tenant: input.tenant }, auditContextOf(caller), 'instance.created', {
          to: 'created',
          reason: dockingWords(docking ?? {}),
        }),
      );
      return serialize(row);
    },

    async getInstance(_caller, id, { deleted = false } = {}) {
      const row = deleted ? await registry.instances.get(id) : null;
      return serialize(row ?? (await requireInstance(parts, id)));
    },

    async patchInstance(caller, id, input, condition) {
      const ifMatch = condition?.ifMatch ?? null;
      const idleToSuspendSeconds = input.idle_to_suspend_s === undefined ? input.timeout_secs : input.idle_to_suspend_s;
      const row = await requireInstance(parts, id);
      requirePrograms(pool, input.policy, row.vfsPath === MEMORY);
      if (ifMatch !== null) requireTag(row, ifMatch);
      const docking = await dockingOf(parts, row, input);
      const patched = await registry.instances.patch(
        id,
        {
          ...(input.name === undefined ? {} : { name: input.name }),
          ...(input.labels === undefined ? {} : { labels: input.labels }),
          ...(input.keep_hot === undefined ? {} : { keepHot: input.keep_hot }),
          ...(input.hold_until === undefined ? {} : { holdUntil: input.hold_until }),
          ...(input.hot_to_warm_s === undefined ? {} : { hotToWarmSeconds: input.hot_to_warm_s }),
          ...(idleToSuspendSeconds === undefined ? {} : { idleToSuspendSeconds }),
          ...(input.idle_to_freeze_s === undefined ? {} : { idleToFreezeSeconds: input.idle_to_freeze_s }),
          ...(input.replicate === undefined ? {} : { replicate: input.replicate }),
          ...(input.policy === undefined ? {} : { policy: input.policy }),
          ...docking,
        },
        now(),
        ledgerEntry(parts, row, auditContextOf(caller), ...changeWords(input, docking)),
        ifMatch === null ? undefined : row,
      );
      if (patched !== null && input.replicate !== undefined) sandboxes.reclassified(patched);
      return serialize(patched ?? (await requireInstance(parts, id)));
    },

    async relabelInstance(caller, id, labels) {
      const row = await requireInstance(parts, id);
      const line = ledgerEntry(parts, row, auditContextOf(caller), 'instance.changed', { reason: 'labels' });
      if ((await registry.instances.relabel(id, labels, LABEL_COUNT, line)) === 'too_many') {
        throw new WinterdockError('conflict', `The sandbox "${id}" would have more than ${LABEL_COUNT} labels.`);
      }
      return serialize(await requireInstance(parts, id));
    },

    async counts({ tenants }) {
      const among = tenants ?? undefined;
      const theirs = among === undefined ? {} : { tenants: among };
      return {
        states: await registry.instances.countsByState(among),
        faults: await registry.instances.countsByFault(among),
        warm: await warmCount(parts, tenants),
        pending: await registry.instances.count({ ...theirs, pending: {} }, COUNT_CAP),
        stuck: await registry.instances.count({ ...theirs, pending: { until: stuckSince(now()) } }, COUNT_CAP),
      };
    },

    async due({ tenants }, withinSeconds, limit) {
      const rows = await registry.instances.dueUntil(now() + withinSeconds, limit, tenants ?? undefined);
      return Promise.all(rows.map(({ row, thresholds }) => serialize(row, thresholds)));
    },

    async dueCounts({ tenants }, { seconds, slots }) {
      const from = now();
      const spans = { from, seconds, slots, most: DUE_CAP };
      const counted = await registry.instances.dueCounts(spans, tenants ?? undefined);
      return counted.map((to, slot) => ({
        from: from + slot * seconds,
        until: from + (slot + 1) * seconds - 1,
        to,
        isCut: Object.values(to).reduce((sum, n) => sum + n, 0) >= DUE_CAP,
      }));
    },
  };
}

/** The type and the reason of a change's ledger line. A docking has a type of its own. */
function changeWords(input: PatchInput, docking: Parameters<typeof dockingWords>[0]): [string, { reason: string }] {
  const words = dockingWords(docking);
  if (words === null) return ['instance.changed', { reason: Object.keys(input).join(', ') }];
  const others = Object.keys(input).filter((key) => !['workbook', 'workbook_version', 'accept_changes'].includes(key));
  return ['instance.docked', { reason: [words, ...others].join(', ') }];
}

/** Throws `unsupported` for a policy that this server cannot give such a sandbox. */
function requirePrograms(
  pool: Pick<InstancePool, 'requirePolicy'>,
  policy: string | undefined,
  inMemory: boolean,
): void {
  if (policy === undefined) return;
  pool.requirePolicy(policy);
  if (inMemory && isNative(policy)) throw noNativeInMemory();
}
