/** Operations that wake and file a sandbox: the verbs, plans of several hops, and settling what was interrupted. */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { InstanceId } from '../base/ids.ts';
import type {
  DeleteInput,
  Instance,
  Plan,
  PrefetchAnswer,
  ResumeAnswer,
  ResumeInput,
  RunPlanInput,
  VerbInput,
} from '../contract/schema.ts';
import { whyAway } from '../contract/trouble-words.ts';
import type { Metrics } from '../health/metrics.ts';
import { LOSSES, lossesOf } from '../lifecycle/job-verbs.ts';
import { hopRefusal, plan } from '../lifecycle/plan.ts';
import { HOPS, type State } from '../lifecycle/state-map.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { MEMORY, requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { auditContextOf } from './audit-context.ts';
import { createInstanceSerializer } from './serializer.ts';

export interface MoveOperations {
  resume(caller: Caller, id: InstanceId, input: ResumeInput): Promise<ResumeAnswer>;
  prefetch(caller: Caller, id: InstanceId): Promise<PrefetchAnswer>;
  /**
   * Pauses the process of an active sandbox in memory, at once or as soon as nothing runs in it. It stays active, and
   * its next use continues it. Throws `conflict` for one that is not active.
   */
  pause(caller: Caller, id: InstanceId): Promise<Instance>;
  suspend(caller: Caller, id: InstanceId, input: VerbInput): Promise<Instance>;
  freeze(caller: Caller, id: InstanceId, input: VerbInput): Promise<Instance>;
  archive(caller: Caller, id: InstanceId, input: VerbInput): Promise<Instance>;
  revive(caller: Caller, id: InstanceId, input: VerbInput): Promise<Instance>;
  /** Rolls an interrupted operation forward or back. Throws `conflict` while it is still under way. */
  settle(caller: Caller, id: InstanceId): Promise<Instance>;
  deleteInstance(caller: Caller, id: InstanceId, input?: DeleteInput): Promise<void>;
  /** The hops to a state and what they cost. Changes nothing, wakes nothing. */
  plan(caller: Caller, id: InstanceId, query: { to: State }): Promise<Plan>;
  /** Runs the plan hop by hop. Throws as the hops do; the sandbox then stays in the state it reached. */
  runPlan(caller: Caller, id: InstanceId, input: RunPlanInput): Promise<Instance>;
}

export function moveOperations(parts: {
  registry: Registry;
  sandboxes: Sandboxes;
  clock: Clock;
  metrics: Pick<Metrics, 'resumedWarm'>;
}): MoveOperations {
  const { sandboxes, metrics } = parts;
  const { serialize } = createInstanceSerializer(parts);
  return {
    async resume(caller, id, input) {
      const resumed = await sandboxes.resume(id, auditContextOf(caller, input.reason), {
        ...(input.policy === undefined ? {} : { policy: input.policy }),
        ...(input.force === undefined ? {} : { force: input.force }),
        fromStored: input.from === 'stored',
      });
      if (resumed.path === 'warm') metrics.resumedWarm(resumed.tookMs / 1000);
      return {
        path: resumed.path,
        ...(resumed.path === 'warm' ? { result: 'already_active' as const } : {}),
        ...(resumed.source === null ? {} : { source: resumed.source }),
        vfs_path: resumed.vfsPath,
        took_ms: resumed.tookMs,
        instance: await serialize(resumed.row),
      };
    },

    async prefetch(caller, id) {
      const { source, vfsPath } = await sandboxes.prefetch(id, auditContextOf(caller));
      return { source, vfs_path: vfsPath };
    },

    pause: async (caller, id) => serialize(await sandboxes.pause(id, auditContextOf(caller))),
    suspend: async (caller, id, { reason, force }) =>
      serialize(await sandboxes.suspend(id, auditContextOf(caller, reason), { force })),
    freeze: async (caller, id, { reason, force }) =>
      serialize(await sandboxes.freeze(id, auditContextOf(caller, reason), { force })),
    archive: async (caller, id, { reason, force }) =>
      serialize(await sandboxes.archive(id, auditContextOf(caller, reason), { force })),
    revive: async (caller, id, { reason, force }) =>
      serialize(await sandboxes.revive(id, auditContextOf(caller, reason), { force })),
    settle: async (caller, id) => serialize(await sandboxes.settle(id, auditContextOf(caller))),
    deleteInstance: (caller, id, input) => sandboxes.delete(id, auditContextOf(caller, input?.reason)),

    async plan(_caller, id, { to }) {
      const row = await requireInstance(parts, id);
      const hops = plan(row.state, to, row);
      const losses = lossesOf({ state: row.state, inMemory: row.vfsPath === MEMORY }, hops ?? []);
      const { calls, attached, unreachable } = sandboxes.live(row);
      return {
        id,
        from: row.state,
        to,
        hops: hopsOf(row.state, hops ?? []),
        losses: losses.map((loss) => ({ loss, words: LOSSES[loss] })),
        calls,
        attached,
        tmp: losses.includes('tmp') ? await tmpOf(sandboxes, id) : null,
        refusal: whyAway({ host: row.ownerHost, unreachable }) ?? refusalOf(row, to, hops),
      };
    },

    async runPlan(caller, id, { to, reason, force }) {
      return serialize(
        await sandboxes.runPlan(id, to, auditContextOf(caller, reason), force === undefined ? {} : { force }),
      );
    },
  };
}

function hopsOf(from: State, hops: readonly State[]): Plan['hops'] {
  return hops.flatMap((to, at) => {
    const start = hops[at - 1] ?? from;
    const verb = HOPS.find((hop) => hop.from === start && hop.to === to)?.verb;
    return verb === undefined ? [] : [{ from: start, to, verb, passing: to === 'active' && at < hops.length - 1 }];
  });
}

async function tmpOf(sandboxes: Sandboxes, id: InstanceId): Promise<Plan['tmp']> {
  try {
    const { volumes } = await sandboxes.read(id, { op: 'volumes' });
    const tmp = volumes.find(({ volume }) => volume === 'tmp');
    return tmp === undefined ? null : { files: tmp.files, bytes: tmp.bytes };
  } catch {
    // The plan of an unreadable file is shown all the same: its losses already say that tmp is lost.
    return null;
  }
}

function refusalOf(row: InstanceRow, to: State, hops: readonly State[] | null): string | null {
  const wouldKeep = to !== 'deleted' && to !== 'active' && to !== 'created' && row.vfsPath === MEMORY;
  if (hops === null && !wouldKeep) return hopRefusal(row.state, to, row);
  if (hops?.length === 0) return `It is ${to} already.`;
  if (to !== 'deleted' && row.fault !== null && row.fault !== 'error') {
    const tried = to === 'active' ? '' : ' With force it is tried all the same.';
    return `Its file is in doubt (${row.fault}). ${waysOut(row.fault)}${tried}`;
  }
  return wouldKeep ? 'It lives only in its process: nothing would be kept.' : null;
}
