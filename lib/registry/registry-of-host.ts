/**
 * The registry as one host uses it: what it moves and has awake is written as its own, and what it asks for as its own
 * work is only what is its own, or nobody's. Holds the tokens of its acquisitions. Everything else of a registry is
 * everybody's and passes.
 */
import type { InstanceId } from '../base/ids.ts';
import type { InstanceStore } from './instances.ts';
import { newToken } from './owner.ts';
import type { Registry } from './registry.ts';
import type { RunStore } from './runs.ts';
import type { ScheduleStore } from './schedules.ts';
import type { HostIdentity, InstanceRow, RowOwner } from './types.ts';

/** The registry for `host`. One of each host in a process: it alone knows what that one has acquired. */
export function registryOfHost<R extends Registry>(registry: R, host: HostIdentity): R {
  const { instances } = registry;
  const held = new Map<InstanceId, string>();
  const ownerOf = (id: InstanceId): RowOwner => ({ host: host.name, term: host.term, token: held.get(id) ?? null });
  const note = <T extends InstanceRow>(row: T): T => {
    if (row.ownerToken === null) held.delete(row.id);
    else if (row.ownerHost === host.name) held.set(row.id, row.ownerToken);
    return row;
  };
  const own: Partial<InstanceStore> = {
    create: (instance, now, ledger) => instances.create({ ...instance, host }, now, ledger),
    async begin(id, intent, options) {
      const owner = { ...ownerOf(id), token: held.get(id) ?? newToken() };
      const isBegun = await instances.begin(id, intent, { ...options, owner });
      if (isBegun) held.set(id, owner.token);
      return isBegun;
    },
    commit: async (transition) => note(await instances.commit({ ...transition, owner: ownerOf(transition.id) })),
    abandon: async (id, patch, ledger) => note(await instances.abandon(id, patch, ledger, ownerOf(id))),
    async takeOver({ by, ...taking }) {
      const owner = { host: host.name, term: host.term, token: newToken() };
      const row = await instances.takeOver({ ...taking, by: by && { ...by, owner } });
      return row && note(row);
    },
    touch: (touches) => instances.touch(touches.map((one) => ({ ...one, owner: ownerOf(one.id) }))),
    // A start has no tokens: those in its rows are of its process before, which has ended.
    unsettled: async () => (await instances.unsettled(host.name)).map(note),
    stillHeld: (ids) => instances.stillHeld(ids, held),
    due: (now, limit) => instances.due(now, limit, host.name),
    uploadsDue: (after, limit) => instances.uploadsDue(after, limit, host.name),
    uploadBacklog: () => instances.uploadBacklog(host.name),
    clampUpdated: (now, slack, limit) => instances.clampUpdated(now, slack, limit, host.name),
  };
  const { runs, schedules } = registry;
  // Where nobody else uses the registry, what another name had left is this host's.
  const only = host.isAlone ? undefined : host.name;
  const ownRuns: Partial<RunStore> = {
    add: (run, limits) => runs.add(run, limits, host.name),
    underWay: (limit) => runs.underWay(limit, only),
  };
  const ownSchedules: Partial<ScheduleStore> = {
    due: (now, limit) => schedules.due(now, limit, only),
    earliest: () => schedules.earliest(only),
  };
  return {
    ...registry,
    instances: { ...instances, ...own },
    runs: { ...runs, ...ownRuns },
    schedules: { ...schedules, ...ownSchedules },
  };
}
