/** Metrics of load: the bytes of all sandboxes together, and what following them costs. No label names one. */
import { Counter, Gauge, type Registry as PromRegistry } from 'prom-client';
import type { LoadSampler } from './load/load-sampler.ts';

export function addLoadMetrics(load: Pick<LoadSampler, 'size' | 'totals'>, registers: PromRegistry[]): void {
  new Counter({
    name: 'winterdock_network_bytes_total',
    help: 'Bytes that the requests of sandboxes to the network sent (out) and got (in) since the start.',
    labelNames: ['direction'],
    registers,
    collect() {
      this.reset();
      this.inc({ direction: 'in' }, load.totals.bytesIn);
      this.inc({ direction: 'out' }, load.totals.bytesOut);
    },
  });
  new Gauge({
    name: 'winterdock_load_series',
    help: 'Sandboxes and tenants of which samples of the last hour are in memory, 4 kB each.',
    registers,
    collect() {
      this.set(load.size);
    },
  });
  new Counter({
    name: 'winterdock_load_sampling_seconds_total',
    help: 'Time that taking samples of load took since the start.',
    registers,
    collect() {
      this.reset();
      this.inc(load.totals.tookMs / 1000);
    },
  });
}
