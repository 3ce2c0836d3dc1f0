/**
 * What sandboxes take: measures the processor time and memory of their processes and counts their calls, adds all of it
 * to the registry by sandbox, tenant and hour, and refuses calls of tenants whose quota of the day is used up. Knows
 * nothing of priorities.
 *
 * What a process took since it was last measured, a second ago at most, is lost when it crashes. What was not saved
 * yet, since the last round of the ladder, is lost when the server is killed. Nothing is ever added twice: each
 * addition is one transaction, and what it adds is no longer pending once it is committed.
 */
import { epochSeconds, secondsToMidnight, utcDay } from '../../base/clock.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { CpuQuota } from '../../registry/cpu-use.ts';
import type { SandboxUse, TenantUse } from '../../registry/usage.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import type { CpuBudget, Engine } from '../engine.ts';
import type { MeasuredUse } from '../load-feed.ts';
import type { SandboxRuntime } from '../runtimes.ts';

const MEASURE_EVERY_MS = 1000;
const HOUR_SECONDS = 3600;

interface Account {
  readonly id: InstanceId;
  readonly tenant: string;
  readonly process: InstanceProcess;
  /** What it had taken when it was last measured, since its start. */
  seconds: number;
  /** Its memory when it was last measured, in bytes. */
  memoryBytes: number;
}

/** What a sandbox took that is not in the registry yet. */
interface Pending {
  readonly tenant: string;
  cpuSeconds: number;
  calls: number;
  memoryBytes: number;
}

/** What the sandboxes of a tenant took since the start of the server. */
export interface TenantTotals {
  cpuSeconds: number;
  calls: number;
}

export class CpuAccounts implements CpuBudget {
  readonly #engine: Pick<Engine, 'host' | 'registry' | 'clock' | 'config' | 'pool' | 'runtimes'>;
  readonly #accounts = new Set<Account>();
  #pending = new Map<InstanceId, Pending>();
  /** The most memory of a tenant's processes together, by tenant, since it was last saved. */
  #peaks = new Map<string, number>();
  /** By tenant, since the start of the server. */
  readonly #totals = new Map<string, TenantTotals>();
  /** Tenants with a quota, and what they have used until now; null when that has to be looked up. */
  #limited: Map<string, CpuQuota> | null = null;
  /** The day of `#limited`. */
  #day = 0;
  /** How often `#limited` was forgotten. */
  #changes = 0;
  #isAnyoneExhausted = false;
  #cleanedOn: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #watchers = new Set<(use: MeasuredUse) => void>();
  readonly #unsubscribe: (() => void)[];

  constructor(engine: Pick<Engine, 'host' | 'registry' | 'clock' | 'config' | 'pool' | 'runtimes'>) {
    this.#engine = engine;
    const { commitEvents } = engine.registry;
    this.#unsubscribe = [
      commitEvents.onStale(() => this.#forgetLimits()),
      commitEvents.onLedgerAppend(({ lines }) => {
        for (const { type, tenant } of lines) {
          if (type === 'tenant.changed' || type === 'tenant.forgotten') this.#forgetLimits();
          if (type === 'tenant.forgotten' && tenant !== null) this.#totals.delete(tenant);
        }
      }),
    ];
  }

  /** What the sandboxes of each tenant took since the start of the server. */
  get totals(): ReadonlyMap<string, TenantTotals> {
    return this.#totals;
  }

  /** Memory of the processes that serve now, by tenant, in bytes. */
  get memory(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { tenant, memoryBytes } of this.#accounts) sums.set(tenant, (sums.get(tenant) ?? 0) + memoryBytes);
    return sums;
  }

  /** Tells `watcher` of each use when it is measured. Returns the unsubscriber. */
  onUse(watcher: (use: MeasuredUse) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The sandboxes that have a process, with its memory when it was last measured. Counts their calls first. */
  serving(): { id: InstanceId; tenant: string; memoryBytes: number }[] {
    return [...this.#accounts].map(({ id, tenant, process }) => {
      this.#takeCalls(this.#engine.runtimes.peek(id), tenant);
      return { id, tenant, memoryBytes: this.#engine.pool.bytesOf(process) };
    });
  }

  /** Begins to measure. */
  start(): void {
    this.#timer ??= setInterval(() => this.#measureAll(), MEASURE_EVERY_MS).unref();
  }

  get mayRefuse(): boolean {
    return !this.#isKnown || this.#isAnyoneExhausted;
  }

  /** Whether the limits of this day are in memory, and nobody can have changed them since. */
  get #isKnown(): boolean {
    const { clock, registry } = this.#engine;
    return this.#limited !== null && utcDay(clock) === this.#day && registry.commitEvents.mayCache;
  }

  async require(tenant: string): Promise<void> {
    const quota = (await this.#currentLimits()).get(tenant);
    if (quota === undefined || !isExhausted(quota)) return;
    const used = Math.floor(quota.used);
    throw new WinterdockError(
      'quota_exceeded',
      `The tenant "${tenant}" may use ${quota.limit} s of processor time a day and has used ${used} s.`,
      {
        hint: 'Its next day begins at midnight UTC. Files can be read and written until then; or have the quota raised.',
        retryAfterSeconds: secondsToMidnight(this.#engine.clock),
        extra: { quota: 'max_daily_cpu_s', limit: quota.limit, used },
      },
    );
  }

  account({ id, tenant }: { id: InstanceId; tenant: string }, process: InstanceProcess): void {
    const account = { id, tenant, process, seconds: process.cpuSeconds(), memoryBytes: 0 };
    this.#accounts.add(account);
    void process.ended.then(() => {
      this.#measure(account);
      this.#takeCalls(this.#engine.runtimes.peek(id), tenant);
      this.#accounts.delete(account);
    });
  }

  /** Measures what processes took, and saves it. */
  async save(): Promise<void> {
    this.#measureAll();
    for (const { id, tenant } of this.#accounts) this.#takeCalls(this.#engine.runtimes.peek(id), tenant);
    const { host, registry, clock, config } = this.#engine;
    const day = utcDay(clock);
    if (day !== this.#cleanedOn) {
      await registry.cpuUse.deleteBefore(day - config.usageKeepDays);
      this.#cleanedOn = day;
    }
    await this.#savePending();
    // What a tenant takes on other hosts is in the registry alone.
    if (!host.isAlone) this.#forgetLimits();
  }

  async #savePending(): Promise<void> {
    if (this.#pending.size === 0) return;
    const { registry, clock } = this.#engine;
    const [pending, peaks] = [this.#pending, this.#peaks];
    this.#pending = new Map();
    this.#peaks = new Map();
    // A lookup that began before does not know what was pending.
    this.#changes += 1;
    try {
      const hour = Math.floor(epochSeconds(clock) / HOUR_SECONDS);
      await registry.usage.add(hour, { sandboxes: sandboxUses(pending), tenants: tenantUses(pending, peaks) });
    } catch (error) {
      for (const [id, use] of pending) this.#add(id, use.tenant, use);
      for (const [tenant, bytes] of peaks) this.#notePeak(tenant, bytes);
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const leave of this.#unsubscribe) leave();
    await this.save();
  }

  #measureAll(): void {
    for (const account of this.#accounts) if (account.process.thermal === 'hot') this.#measure(account);
    for (const [tenant, bytes] of this.memory) this.#notePeak(tenant, bytes);
  }

  #measure(account: Account): void {
    const seconds = account.process.cpuSeconds();
    const took = seconds - account.seconds;
    account.seconds = seconds;
    account.memoryBytes = this.#engine.pool.bytesOf(account.process);
    if (took <= 0) return;
    const { id, tenant, memoryBytes } = account;
    this.#took({ id, tenant, cpuSeconds: took, calls: 0, memoryBytes });
    this.#totalOf(tenant).cpuSeconds += took;
    const quota = this.#limited?.get(tenant);
    if (quota === undefined) return;
    quota.used += took;
    this.#isAnyoneExhausted ||= isExhausted(quota);
  }

  /** Takes the calls that a runtime has counted. */
  #takeCalls(runtime: SandboxRuntime | undefined, tenant: string): void {
    if (runtime === undefined || runtime.uncountedCalls === 0) return;
    const calls = runtime.uncountedCalls;
    runtime.uncountedCalls = 0;
    this.#took({ id: runtime.id, tenant, cpuSeconds: 0, calls, memoryBytes: 0 });
    this.#totalOf(tenant).calls += calls;
    this.#engine.runtimes.drop(runtime);
  }

  #took(use: MeasuredUse): void {
    this.#add(use.id, use.tenant, use);
    for (const watcher of this.#watchers) watcher(use);
  }

  #add(id: InstanceId, tenant: string, { cpuSeconds, calls, memoryBytes }: Omit<Pending, 'tenant'>): void {
    let use = this.#pending.get(id);
    if (use === undefined) {
      use = { tenant, cpuSeconds: 0, calls: 0, memoryBytes: 0 };
      this.#pending.set(id, use);
    }
    use.cpuSeconds += cpuSeconds;
    use.calls += calls;
    use.memoryBytes = Math.max(use.memoryBytes, memoryBytes);
  }

  #notePeak(tenant: string, bytes: number): void {
    this.#peaks.set(tenant, Math.max(bytes, this.#peaks.get(tenant) ?? 0));
  }

  #totalOf(tenant: string): TenantTotals {
    let totals = this.#totals.get(tenant);
    if (totals === undefined) {
      totals = { cpuSeconds: 0, calls: 0 };
      this.#totals.set(tenant, totals);
    }
    return totals;
  }

  async #currentLimits(): Promise<Map<string, CpuQuota>> {
    if (this.#limited !== null && this.#isKnown) return this.#limited;
    const { registry, clock } = this.#engine;
    const day = utcDay(clock);
    const changes = this.#changes;
    const limited = new Map((await registry.cpuUse.limited(day)).map((quota) => [quota.tenant, { ...quota }]));
    for (const { tenant, cpuSeconds } of this.#pending.values()) {
      const quota = limited.get(tenant);
      if (quota !== undefined) quota.used += cpuSeconds;
    }
    // What changed meanwhile may be missing.
    if (changes === this.#changes) {
      this.#limited = limited;
      this.#day = day;
      this.#isAnyoneExhausted = [...limited.values()].some(isExhausted);
    }
    return limited;
  }

  #forgetLimits(): void {
    this.#changes += 1;
    this.#limited = null;
  }
}

function isExhausted({ limit, used }: CpuQuota): boolean {
  return used >= limit;
}

function sandboxUses(pending: ReadonlyMap<InstanceId, Pending>): SandboxUse[] {
  return [...pending].map(([id, { cpuSeconds, calls, memoryBytes }]) => ({
    id,
    cpuMs: Math.round(cpuSeconds * 1000),
    calls,
    memoryBytes,
  }));
}

/** The sums of the sandboxes' rounded values, so that tenants and their sandboxes add up to the same. */
function tenantUses(pending: ReadonlyMap<InstanceId, Pending>, peaks: ReadonlyMap<string, number>): TenantUse[] {
  const sums = new Map<string, TenantUse>();
  for (const { tenant, cpuSeconds, calls } of pending.values()) {
    const sum = sums.get(tenant) ?? { tenant, cpuMs: 0, calls: 0, memoryBytes: peaks.get(tenant) ?? 0 };
    sum.cpuMs += Math.round(cpuSeconds * 1000);
    sum.calls += calls;
    sums.set(tenant, sum);
  }
  return [...sums.values()];
}
