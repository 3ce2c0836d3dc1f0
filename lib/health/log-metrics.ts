/** The metric of the logs of sandboxes: what could not be kept. No label names a sandbox. */
import { Counter, type Registry as PromRegistry } from 'prom-client';

/** `dropped`: lines since the start. */
export function addLogMetrics(logs: { readonly dropped: number }, registers: PromRegistry[]): void {
  new Counter({
    name: 'winterdock_log_dropped_total',
    help: 'Lines that sandboxes printed and their logs could not keep since the start.',
    registers,
    collect() {
      this.reset();
      this.inc(logs.dropped);
    },
  });
}
