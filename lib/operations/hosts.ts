/** Operations on the hosts of the registry: what each says of itself, its lease, its labels, and how it is emptied. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { DrainHostInput, HostAnswer, PatchHostInput } from '../contract/schema/hosts.ts';
import type { HostWatch } from '../hosts/host-watch.ts';
import type { JobRunner } from '../jobs/runner.ts';
import type { HostDrain, HostRecord } from '../registry/hosts.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { auditContextOf } from './audit-context.ts';

/** Sandboxes of a host that are counted. */
const COUNT_CAP = 10_000;

export interface HostOperations {
  /** By name. */
  listHosts(caller: Caller): Promise<HostAnswer[]>;
  getHost(caller: Caller, name: string): Promise<HostAnswer>;
  patchHost(caller: Caller, name: string, input: PatchHostInput): Promise<HostAnswer>;
  /**
   * Has a host emptied: it takes nothing new, and hands over what it has. While that goes on it is not begun anew.
   * Throws `conflict` where no other host could take anything over.
   */
  drainHost(caller: Caller, name: string, input: DrainHostInput): Promise<HostAnswer>;
  /** It takes what is new again, and keeps what it still has. */
  stopDraining(caller: Caller, name: string): Promise<HostAnswer>;
}

type Seen = Pick<HostWatch, 'get' | 'look'> | null;

export function hostOperations(parts: {
  registry: Pick<Registry, 'hosts' | 'instances' | 'jobs'>;
  config: { hostName: string };
  clock: Clock;
  runner: Pick<JobRunner, 'cancel'>;
  watch: Seen;
}): HostOperations {
  const { registry, config, clock, runner, watch } = parts;
  const { hosts, instances, jobs } = registry;

  const drainOf = async (drain: HostDrain | null): Promise<HostAnswer['drain']> => {
    if (drain === null) return null;
    const job = await jobs.get(drain.job);
    return {
      job: drain.job,
      state: job?.state ?? 'waiting',
      asked: drain.asked,
      reason: drain.reason,
      include_held: drain.includeHeld,
      chosen: job?.chosen ?? 0,
      done: job?.done ?? 0,
      failed: job?.failed ?? 0,
      skipped: job?.skipped ?? 0,
    };
  };
  const shown = async (row: HostRecord): Promise<HostAnswer> => {
    const { name } = row;
    return {
      ...hostOf(row, name === config.hostName, watch),
      sandboxes: await instances.count({ host: name }, COUNT_CAP),
      awake: await instances.count({ host: name, state: 'active' }, COUNT_CAP),
      drain: await drainOf(row.drain),
    };
  };
  const rowOf = async (name: string): Promise<HostRecord> => {
    const row = (await hosts.list()).find((one) => one.name === name);
    if (row === undefined) throw unknownHost(name);
    return row;
  };
  /** A line about a host, which is no tenant's. */
  const line = (caller: Caller, type: string, reason: string) =>
    ledgerEntry({ clock }, null, { ...auditContextOf(caller), trigger: 'operator' }, type, { reason });
  /** The host as it is now: where it is this one, it acts by that at once. */
  const afterwards = async (name: string, isKnown: boolean): Promise<HostAnswer> => {
    if (!isKnown) throw unknownHost(name);
    await watch?.look();
    return shown(await rowOf(name));
  };

  return {
    listHosts: async () => Promise.all((await hosts.list()).map(shown)),
    getHost: async (_caller, name) => shown(await rowOf(name)),

    async patchHost(caller, name, { labels }) {
      const said = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      const changed = line(caller, 'host.labelled', `${name}: ${said.join(', ') || 'no labels'}`);
      return afterwards(name, await hosts.setLabels(name, labels, changed));
    },

    async drainHost(caller, name, { reason = '', include_held: includeHeld = false }) {
      const row = await rowOf(name);
      const before = await drainOf(row.drain);
      if (before?.state === 'waiting' || before?.state === 'running') return shown(row);
      requireTaker(await hosts.list(), name, parts);
      const { actor, via, address } = caller;
      const by = { actor, via, address, asked: epochSeconds(clock) };
      const drain: HostDrain = { ...by, job: newId('job'), reason: reason === '' ? null : reason, includeHeld };
      const held = includeHeld ? ', kept hot, held and attached ones too' : '';
      const why = drain.reason === null ? '' : ` – ${drain.reason}`;
      const begun = line(caller, 'host.draining', `${name}, by the job ${drain.job}${held}${why}`);
      return afterwards(name, await hosts.setDrain(name, drain, begun));
    },

    async stopDraining(caller, name) {
      const row = await rowOf(name);
      if (!row.isDraining) return shown(row);
      const isKnown = await hosts.setDrain(name, null, line(caller, 'host.kept', name));
      const job = row.drain === null ? null : await jobs.get(row.drain.job);
      if (job?.state === 'running') await runner.cancel(job.id, auditContextOf(caller));
      return afterwards(name, isKnown);
    },
  };
}

function unknownHost(name: string): WinterdockError {
  return new WinterdockError('not_found', `There is no host "${name}".`);
}

/** Throws `conflict` unless another host lives and takes what is new. */
function requireTaker(
  rows: readonly HostRecord[],
  name: string,
  { config, watch }: { config: { hostName: string }; watch: Seen },
): void {
  if (watch === null) {
    throw new WinterdockError('conflict', 'This server has its registry for itself: nobody could take anything over.', {
      hint: 'Stop it: it suspends what is awake, and the next start has all of it.',
    });
  }
  const isTaker = ({ name: other, isDraining }: HostRecord) =>
    other !== name && !isDraining && (other === config.hostName || watch.get(other)?.verdict === 'held');
  if (rows.some(isTaker)) return;
  throw new WinterdockError('conflict', `No other host lives that would take over what "${name}" has.`, {
    hint: 'Start another one first, or stop draining one.',
  });
}

function hostOf(
  row: HostRecord,
  self: boolean,
  watch: Pick<HostWatch, 'get'> | null,
): Omit<HostAnswer, 'sandboxes' | 'awake' | 'drain'> {
  const { name, term, sinceMs, url, version, capacity, labels, isDraining, renewals, renewedMs } = row;
  return {
    name,
    self,
    term,
    since: Math.floor(sinceMs / 1000),
    url,
    version,
    capacity: capacity === null ? null : { active: capacity.active, memory_bytes: capacity.memoryBytes },
    labels: labels ?? {},
    draining: isDraining,
    held: self || row.token !== null,
    dead: !self && watch?.get(name)?.verdict === 'dead',
    lease_ms: row.leaseMs,
    renewals,
    renewed: renewedMs === null ? null : Math.floor(renewedMs / 1000),
    public_key: row.publicKey,
  };
}
