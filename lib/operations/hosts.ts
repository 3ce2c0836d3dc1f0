/** Operations on the hosts of the registry: what each says of itself, and its lease. */
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import type { HostAnswer } from '../contract/schema/hosts.ts';
import type { HostWatch } from '../hosts/host-watch.ts';
import type { HostRecord } from '../registry/hosts.ts';
import type { Registry } from '../registry/registry.ts';

/** Sandboxes of a host that are counted. */
const COUNT_CAP = 10_000;

export interface HostOperations {
  /** By name. */
  listHosts(caller: Caller): Promise<HostAnswer[]>;
  getHost(caller: Caller, name: string): Promise<HostAnswer>;
}

export function hostOperations(parts: {
  registry: Pick<Registry, 'hosts' | 'instances'>;
  config: { hostName: string };
  watch: Pick<HostWatch, 'get'> | null;
}): HostOperations {
  const { hosts, instances } = parts.registry;
  const shown = async (row: HostRecord): Promise<HostAnswer> => {
    const { name } = row;
    const counted = {
      sandboxes: await instances.count({ host: name }, COUNT_CAP),
      awake: await instances.count({ host: name, state: 'active' }, COUNT_CAP),
    };
    return { ...hostOf(row, name === parts.config.hostName, parts.watch), ...counted };
  };
  return {
    listHosts: async () => Promise.all((await hosts.list()).map(shown)),
    async getHost(_caller, name) {
      const row = (await hosts.list()).find((one) => one.name === name);
      if (row === undefined) throw new WinterdockError('not_found', `There is no host "${name}".`);
      return shown(row);
    },
  };
}

function hostOf(
  row: HostRecord,
  self: boolean,
  watch: Pick<HostWatch, 'get'> | null,
): Omit<HostAnswer, 'sandboxes' | 'awake'> {
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
