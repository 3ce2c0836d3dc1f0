/**
 * What sandboxes used of the network since the ledger was told of it, by host. Pure: time is an argument. Knows no
 * ledger.
 */
import type { InstanceId } from '../base/ids.ts';
import type { HostUse } from '../registry/network.ts';

export interface NetworkUse {
  id: InstanceId;
  tenant: string;
  /** The first hour of it, since 1970. */
  hour: number;
  /** By scheme, host and port; empty: several that are not told apart. */
  hosts: Map<string, HostUse>;
}

/** Hosts that a line names, the most called first. */
const NAMED = 10;

export class NetworkUses {
  #uses = new Map<string, NetworkUse>();

  add({ id, tenant }: { id: InstanceId; tenant: string }, hour: number, host: string, counts: Partial<HostUse>): void {
    const use = this.#uses.get(id) ?? { id, tenant, hour, hosts: new Map<string, HostUse>() };
    this.#uses.set(id, use);
    const sum = use.hosts.get(host) ?? { calls: 0, refused: 0, bytesOut: 0, bytesIn: 0 };
    addTo(sum, counts);
    use.hosts.set(host, sum);
  }

  /** Takes those of the sandboxes; without any, those that began before an hour. */
  take({ ids, before = Number.POSITIVE_INFINITY }: { ids?: ReadonlySet<string>; before?: number }): NetworkUse[] {
    const taken = [...this.#uses.values()].filter(({ id, hour }) => (ids === undefined ? hour < before : ids.has(id)));
    for (const { id } of taken) this.#uses.delete(id);
    return taken;
  }

  /** Puts back what could not be told. */
  putBack(uses: readonly NetworkUse[]): void {
    for (const use of uses) {
      const since = this.#uses.get(use.id);
      this.#uses.set(use.id, use);
      for (const [host, counts] of since?.hosts ?? []) this.add(use, use.hour, host, counts);
    }
  }
}

/** The counts as the reason of a line. */
export function useInWords({ hosts }: NetworkUse): string {
  const all: HostUse = { calls: 0, refused: 0, bytesOut: 0, bytesIn: 0 };
  for (const use of hosts.values()) addTo(all, use);
  const named = [...hosts]
    .filter(([host]) => host !== '')
    .toSorted(([, a], [, b]) => b.calls - a.calls || b.refused - a.refused)
    .slice(0, NAMED)
    .map(([host, use]) => `${host} ${countsOf(use)}`);
  const more = hosts.size - named.length;
  return `${countsOf(all)}: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function countsOf({ calls, refused, bytesOut, bytesIn }: HostUse): string {
  const parts = [
    calls === 0 ? '' : `${calls} ${calls === 1 ? 'request' : 'requests'}`,
    refused === 0 ? '' : `${refused} refused`,
    bytesOut + bytesIn === 0 ? '' : `${bytesOut} bytes out, ${bytesIn} in`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function addTo(sum: HostUse, counts: Partial<HostUse>): void {
  for (const field of ['calls', 'refused', 'bytesOut', 'bytesIn'] as const) sum[field] += counts[field] ?? 0;
}
