/** The metrics of the object store. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { StoreReport } from './store-report.ts';

/** Adds them to these registers. */
export function addStoreMetrics(
  store: Pick<StoreReport, 'queue' | 'whyAway' | 'requests'>,
  registers: Registry[],
): void {
  new Gauge({
    name: 'winterdock_store_away',
    help: '1 while the object store cannot be used.',
    registers,
    collect() {
      this.set(store.whyAway === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'winterdock_upload_queue',
    help: 'Uploads to the object store: those that wait, those that run, and the seconds that the oldest has waited.',
    labelNames: ['stat'],
    registers,
    async collect() {
      const { queued, running, oldestSeconds } = await store.queue();
      this.set({ stat: 'queued' }, queued);
      this.set({ stat: 'running' }, running);
      this.set({ stat: 'oldest_seconds' }, oldestSeconds);
    },
  });
  new Counter({
    name: 'winterdock_store_requests_total',
    help: 'Requests to the object store, by what was asked and how it ended.',
    labelNames: ['op', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { op, outcome, count } of store.requests()) this.inc({ op, outcome }, count);
    },
  });
}
