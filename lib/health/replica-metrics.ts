/** The metrics of the replica. */
import { Gauge, type Registry } from 'prom-client';
import type { ReplicaHealth } from './replica-health.ts';

/** Adds them to these registers. No label has the id of a sandbox. */
export function addReplicaMetrics(
  replica: Pick<ReplicaHealth, 'lag' | 'whyAway' | 'spoolBytes'>,
  registers: Registry[],
): void {
  new Gauge({
    name: 'winterdock_replica_away',
    help: '1 while nothing can be stored in the replica.',
    registers,
    collect() {
      this.set(replica.whyAway === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'winterdock_replica_lag_seconds',
    help: 'Seconds for which the replica has lacked what was committed: the largest and the mean of sandboxes that are awake or still to be shipped, and the registry.',
    labelNames: ['stat'],
    registers,
    collect() {
      const { maxMs, meanMs, registryMs } = replica.lag();
      this.set({ stat: 'max' }, maxMs / 1000);
      this.set({ stat: 'mean' }, meanMs / 1000);
      this.set({ stat: 'registry' }, registryMs / 1000);
    },
  });
  new Gauge({
    name: 'winterdock_replica_sandboxes',
    help: 'Awake sandboxes that are replicated, and all of which the replica lacks something.',
    labelNames: ['stat'],
    registers,
    collect() {
      const { open, behind } = replica.lag();
      this.set({ stat: 'open' }, open);
      this.set({ stat: 'behind' }, behind);
    },
  });
  new Gauge({
    name: 'winterdock_replica_spool_bytes',
    help: 'Bytes on this machine that wait for the replica.',
    registers,
    collect() {
      this.set(replica.spoolBytes);
    },
  });
}
