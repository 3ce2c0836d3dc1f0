/** How long the methods of the registry take, as a metric. */
import { Histogram, type Registry as PromRegistry } from 'prom-client';

/** Seconds: a file answers within the first, a database on another machine within the fourth. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

export class RegistryTimes {
  readonly #times = new Histogram({
    name: 'winterdock_registry_seconds',
    help: 'How long methods of the registry took, by method.',
    labelNames: ['method'],
    buckets: BUCKETS,
    registers: [],
  });
  readonly #methods = new Map<string, Histogram.Internal<'method'>>();

  /** Counts a call that has ended. `method`: one of some two hundred names. */
  readonly observe = (method: string, seconds: number): void => {
    let times = this.#methods.get(method);
    if (times === undefined) {
      times = this.#times.labels(method);
      this.#methods.set(method, times);
    }
    times.observe(seconds);
  };

  /** Shows them among the metrics of a host. */
  addTo(register: PromRegistry): void {
    register.registerMetric(this.#times);
  }
}
