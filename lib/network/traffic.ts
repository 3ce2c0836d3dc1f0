/**
 * Sums what sandboxes send and get, by host and hour, and writes the sums at intervals. What was counted since the last
 * writing is lost when the server is killed. Knows nothing of rules.
 */
import type { Clock } from '../base/clock.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { HostUse, SandboxTraffic } from '../registry/network.ts';
import type { Registry } from '../registry/registry.ts';
import { NetworkUses } from './uses.ts';

const EVERY_MS = 15_000;
const PRUNE_EVERY_MS = 600_000;
const PRUNED_AT_ONCE = 2000;
const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
/** Hosts of a sandbox that are told apart in an hour: a guest makes up names as it likes. */
const MOST_HOSTS = 50;
/** A name of the DNS has 253 characters at most; with scheme and port. */
const LONGEST_HOST = 270;

interface TrafficParts {
  registry: Pick<Registry, 'network'>;
  clock: Clock;
  log: Logger;
  config: { usageKeepDays: number };
}

/** What a sandbox sent and got in one request. */
export interface CarriedBytes {
  id: InstanceId;
  tenant: string;
  bytesIn: number;
  bytesOut: number;
}

export class Traffic {
  /** What the ledger was not told of yet. */
  readonly uses = new NetworkUses();
  readonly #parts: TrafficParts;
  /** By hour, sandbox and host. */
  #sums = new Map<string, { hour: number; traffic: SandboxTraffic }>();
  /** Hosts of this hour, by sandbox. */
  #hosts = new Map<string, Set<string>>();
  #hour = -1;
  #writing: Promise<void> = Promise.resolve();
  #timers: NodeJS.Timeout[] = [];
  readonly #watchers = new Set<(carried: CarriedBytes) => void>();

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.flush().catch(() => {}), EVERY_MS).unref(),
      setInterval(() => void this.#prune(), PRUNE_EVERY_MS).unref(),
    ];
  }

  /** Writes what is left. Idempotent. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush().catch(() => {});
  }

  /** Tells `watcher` of each request that was carried out. Returns the unsubscriber. */
  onCarried(watcher: (carried: CarriedBytes) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** `host`: scheme, host and port. */
  add(of: { id: InstanceId; tenant: string }, host: string, counts: Partial<HostUse>): void {
    const { bytesIn = 0, bytesOut = 0 } = counts;
    if (bytesIn + bytesOut > 0)
      for (const watcher of this.#watchers) watcher({ id: of.id, tenant: of.tenant, bytesIn, bytesOut });
    const hour = this.hour();
    if (hour !== this.#hour) this.#hosts = new Map();
    this.#hour = hour;
    const hosts = this.#hosts.get(of.id) ?? new Set();
    this.#hosts.set(of.id, hosts);
    const isTold = host.length <= LONGEST_HOST && (hosts.has(host) || hosts.size < MOST_HOSTS);
    const name = isTold ? host : '';
    if (isTold) hosts.add(host);
    this.uses.add(of, hour, name, counts);
    this.#sum(of, hour, name, counts);
  }

  /** The current hour, since 1970. */
  hour(): number {
    return Math.floor(this.#parts.clock.now() / HOUR_MS);
  }

  #sum(of: { id: InstanceId; tenant: string }, hour: number, name: string, counts: Partial<HostUse>): void {
    const key = `${hour} ${of.id} ${name}`;
    const nothing = { calls: 0, refused: 0, bytesOut: 0, bytesIn: 0 };
    const sum = this.#sums.get(key) ?? {
      hour,
      traffic: { instance: of.id, tenant: of.tenant, host: name, ...nothing },
    };
    for (const field of ['calls', 'refused', 'bytesOut', 'bytesIn'] as const) sum.traffic[field] += counts[field] ?? 0;
    this.#sums.set(key, sum);
  }

  /** Whether counts of a sandbox are not written yet. */
  waitsFor(id: string): boolean {
    return [...this.#sums.values()].some(({ traffic }) => traffic.instance === id);
  }

  /** Writes what was counted and not written yet. After a failed write it is kept and counted further. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const sums = this.#sums;
    if (sums.size === 0) return;
    this.#sums = new Map();
    const byHour = Map.groupBy(sums.values(), ({ hour }) => hour);
    let failed: unknown = null;
    for (const [hour, list] of byHour) {
      try {
        await this.#parts.registry.network.addTraffic(
          hour,
          list.map(({ traffic }) => traffic),
        );
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'the traffic of sandboxes was not written yet');
        for (const { traffic } of list)
          this.#sum({ id: traffic.instance, tenant: traffic.tenant }, hour, traffic.host, traffic);
        failed = error;
      }
    }
    if (failed !== null) throw failed;
  }

  async #prune(): Promise<void> {
    const { registry, config, log } = this.#parts;
    const before = this.hour() - config.usageKeepDays * HOURS_A_DAY;
    try {
      while ((await registry.network.prune(before, PRUNED_AT_ONCE)) === PRUNED_AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, 'old traffic was not deleted');
    }
  }
}
