/** The lease of this host, as a metric. */
import { Gauge, type Registry as PromRegistry } from 'prom-client';

/** Adds it. */
export function addHostLease(registers: PromRegistry[], lease: { readonly leftMs: number }): void {
  new Gauge({
    name: 'winterdock_host_lease_seconds',
    help: 'Seconds for which this host may act without another renewal of its lease; 0: its lease has lapsed.',
    registers,
    collect() {
      this.set(lease.leftMs / 1000);
    },
  });
}
