/** The lease of this host, and what it has taken from hosts that are dead, as metrics. */
import { Counter, Gauge, type Registry as PromRegistry } from 'prom-client';
import type { HostLease } from '../hosts/host-lease.ts';
import type { TakeoverClass } from '../sandboxes/engine.ts';

/** What they go on from; each is shown from the start. */
const CLASSES: readonly TakeoverClass[] = ['stored', 'sync', 'seconds'];

/** Sandboxes that were taken from dead hosts, by what they go on from. */
export type Takeovers = Map<TakeoverClass, number>;

export interface HostFigures {
  lease: Pick<HostLease, 'leftMs'>;
  takeovers: Takeovers;
}

/** Adds them; nothing where nobody else reaches the registry. */
export function addHostMetrics(registers: PromRegistry[], figures: HostFigures | null): void {
  if (figures === null) return;
  const { lease, takeovers } = figures;
  new Gauge({
    name: 'winterdock_host_lease_seconds',
    help: 'Seconds for which this host may act without another renewal of its lease; 0: its lease has lapsed.',
    registers,
    collect() {
      this.set(lease.leftMs / 1000);
    },
  });
  new Counter({
    name: 'winterdock_takeovers_total',
    help: 'Sandboxes that this host has taken from one that is dead, by what they go on from.',
    labelNames: ['class'],
    registers,
    collect() {
      this.reset();
      for (const name of CLASSES) this.inc({ class: name }, takeovers.get(name) ?? 0);
    },
  });
}
