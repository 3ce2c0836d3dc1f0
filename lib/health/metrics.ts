/**
 * The metrics of this process in Prometheus' format. Counters follow the ledger; gauges are
 * read when the metrics are asked for.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as PromRegistry } from 'prom-client';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { STATES } from '../lifecycle/state-map.ts';
import { FAULTS, type Source } from '../lifecycle/words.ts';
import type { Registry } from '../registry/registry.ts';
import type { RunResult } from '../registry/schedules.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { AttemptOutcome } from '../webhooks/courier.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';
import { ASH_SOURCE, type AshSource, ashCounters } from './ash-metrics.ts';
import { addBackupAge } from './backup-age.ts';
import { addHostMetrics, type HostFigures } from './host-lease.ts';
import type { LoadSampler } from './load/load-sampler.ts';
import { addLoadMetrics } from './load-metrics.ts';
import { addLogMetrics } from './log-metrics.ts';
import type { RegistryTimes } from './registry-times.ts';
import type { ReplicaHealth } from './replica-health.ts';
import { addReplicaMetrics } from './replica-metrics.ts';
import { addStoreMetrics } from './store-metrics.ts';
import type { StoreReport } from './store-report.ts';
import { type WakeSummary, WakeTimeBook } from './wake-times.ts';

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** Wakes since the start: those that found their process there, and the others by where the file came from. */
  resumes(): Promise<ResumeCounts>;
  /** Counts a wake that found its process already there. Cold ones are counted from the ledger. */
  resumedWarm(seconds: number): void;
  /** Counts a run of a schedule; `lateSeconds` after the time that it was due at, null when there is none. */
  scheduleRan(result: RunResult, lateSeconds: number | null): void;
  /** Counts an attempt to deliver to a webhook. */
  webhookAttempted(outcome: AttemptOutcome): void;
  /** How long wakes took in the last `days` days, kept over restarts. */
  wakeTimes(days: number): Promise<WakeSummary[]>;
  /**
   * Counts a stall of the event loop. `request`: method and route of what held it; null when that is not known. Beyond
   * a hundred names they are counted as one.
   */
  loopStalled(request: string | null, seconds: number): void;
  /** Stops counting and keeps what was counted. */
  close(): Promise<void>;
}

export interface ResumeCounts {
  warm: number;
  cold: Record<AshSource, number>;
}

/** Seconds. A wake costs milliseconds, so the buckets start there. */
const RESUME_BUCKETS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8];
/** Seconds, up to the longest wait by default (WB_WAKE_WAIT_MS). */
const WAIT_BUCKETS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15];
/** Seconds. Schedules have whole seconds, and a crowded one is spread over a minute. */
const LATENESS_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3600];

/** Seconds, from the shortest that is counted. */
const STALL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Names of requests that stalls are counted by. */
const MOST_STALLED = 100;

/** What the types of lines about pausing begin with. */
const THERMAL = 'thermal.';

/** Makes the metrics of a host; each host has its own. */
export function createMetrics(options: {
  registry: Pick<Registry, 'backups' | 'commitEvents' | 'facts' | 'instances' | 'quotas' | 'schedules' | 'wakeTimes'>;
  pool: Pick<InstancePool, 'ready' | 'memory'>;
  sandboxes: Pick<
    Sandboxes,
    'callsRunning' | 'memoryByTenant' | 'onWakeWaited' | 'totalsByTenant' | 'wakesWaiting' | 'warmIds'
  >;
  clock: Clock;
  log: Logger;
  /** Null: there is no object store. */
  store: Pick<StoreReport, 'queue' | 'whyAway' | 'requests'> | null;
  /** Null: there is no replica. */
  replica: Pick<ReplicaHealth, 'lag' | 'whyAway' | 'spoolBytes'> | null;
  registryTimes: Pick<RegistryTimes, 'addTo'>;
  load: Pick<LoadSampler, 'size' | 'totals'>;
  /** Lines of logs that were dropped. */
  logs: { readonly dropped: number };
  /** Null: nobody else reaches the registry. */
  hosts: HostFigures | null;
  /** Open streams of the ledger. */
  streams: () => number;
  /** Days that wake times are kept. */
  keepDays: number;
  /** Counts wakes under the names of Ash too. */
  ashNames: boolean;
}): Metrics {
  const { registry, pool, sandboxes, clock, log, streams, keepDays } = options;
  const times = new WakeTimeBook({
    kept: registry.wakeTimes,
    clock,
    bounds: RESUME_BUCKETS.map((seconds) => seconds * 1000),
    keepDays,
    failed: (error) => log.error({ err: error }, 'wake times were not kept'),
  });
  const registers = [new PromRegistry()];
  const [prom] = registers as [PromRegistry];
  collectDefaultMetrics({ register: prom });
  options.registryTimes.addTo(prom);
  addLoadMetrics(options.load, registers);
  addLogMetrics(options.logs, registers);
  addHostMetrics(registers, options.hosts);
  addBackupAge(registers, { registry, clock });
  new Gauge({
    name: 'winterdock_instances',
    help: 'Instances by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await registry.instances.countsByState();
      for (const state of STATES) this.set({ state }, counts[state]);
    },
  });
  new Gauge({
    name: 'winterdock_instances_thermal',
    help: 'Instances by thermal state: hot has a process, warm a paused one, cold none.',
    labelNames: ['thermal'],
    registers,
    async collect() {
      const { active, deleted, ...counts } = await registry.instances.countsByState();
      const warm = Math.min(active, sandboxes.warmIds.length);
      this.set({ thermal: 'hot' }, active - warm);
      this.set({ thermal: 'warm' }, warm);
      this.set(
        { thermal: 'cold' },
        Object.values(counts).reduce((sum, n) => sum + n, 0),
      );
    },
  });
  new Gauge({
    name: 'winterdock_faults',
    help: 'Instances by fault.',
    labelNames: ['fault'],
    registers,
    async collect() {
      const counts = await registry.instances.countsByFault();
      for (const fault of FAULTS) this.set({ fault }, counts[fault]);
    },
  });
  new Gauge({
    name: 'winterdock_pool_ready',
    help: 'Started workers that wait for a sandbox.',
    registers,
    collect() {
      this.set(pool.ready);
    },
  });
  new Gauge({
    name: 'winterdock_memory_bytes',
    help: 'Memory that the processes of sandboxes count: those that serve, and those started ahead of need.',
    labelNames: ['processes'],
    registers,
    collect() {
      const { servingBytes, spareBytes } = pool.memory;
      this.set({ processes: 'serving' }, servingBytes);
      this.set({ processes: 'spare' }, spareBytes);
    },
  });
  new Gauge({
    name: 'winterdock_memory_limit_bytes',
    help: 'Memory that the processes of sandboxes may take together (WB_MEMORY); 0: no budget.',
    registers,
    collect() {
      this.set(pool.memory.limitBytes ?? 0);
    },
  });
  new Gauge({
    name: 'winterdock_calls_running',
    help: 'Calls that run in sandboxes now.',
    registers,
    collect() {
      this.set(sandboxes.callsRunning);
    },
  });
  new Gauge({
    name: 'winterdock_wakes_waiting',
    help: 'Wakes that wait for a place or for a started worker.',
    registers,
    collect() {
      this.set(sandboxes.wakesWaiting);
    },
  });
  if (options.store !== null) addStoreMetrics(options.store, registers);
  if (options.replica !== null) addReplicaMetrics(options.replica, registers);
  const wakeWaits = new Histogram({
    name: 'winterdock_wake_wait_seconds',
    help: 'Time that wakes waited for a place and a started worker, by outcome: admitted or refused.',
    labelNames: ['outcome'],
    buckets: WAIT_BUCKETS,
    registers,
  });
  sandboxes.onWakeWaited((waitMs, isAdmitted) =>
    wakeWaits.observe({ outcome: isAdmitted ? 'admitted' : 'refused' }, waitMs / 1000),
  );
  new Counter({
    name: 'winterdock_cpu_seconds_total',
    help: 'Processor time that the processes of each tenant took, for those that took any since the start.',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset();
      for (const [tenant, { cpuSeconds }] of sandboxes.totalsByTenant) this.inc({ tenant }, cpuSeconds);
    },
  });
  new Counter({
    name: 'winterdock_tenant_calls_total',
    help: 'Calls and writes that the sandboxes of each tenant took, for those that took any since the start.',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset();
      for (const [tenant, { calls }] of sandboxes.totalsByTenant) this.inc({ tenant }, calls);
    },
  });
  new Gauge({
    name: 'winterdock_tenant_memory_bytes',
    help: 'Private memory of the processes of each tenant that has some now.',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset();
      for (const [tenant, bytes] of sandboxes.memoryByTenant) this.set({ tenant }, bytes);
    },
  });
  new Gauge({
    name: 'winterdock_tenant_disk_bytes',
    help: 'Bytes of the files of each tenant whose sandboxes did something since the start.',
    labelNames: ['tenant'],
    registers,
    async collect() {
      this.reset();
      for (const tenant of sandboxes.totalsByTenant.keys()) {
        const bytes = Object.values((await registry.quotas.tenant(tenant))?.bytes ?? {});
        this.set(
          { tenant },
          bytes.reduce((sum, n) => sum + n, 0),
        );
      }
    },
  });
  new Gauge({
    name: 'winterdock_event_streams',
    help: 'Streams of the ledger that are open.',
    registers,
    collect() {
      this.set(streams());
    },
  });
  const resumes = new Counter({
    name: 'winterdock_resume_total',
    help: 'Wakes by path: warm found the process already there.',
    labelNames: ['path'],
    registers,
  });
  const coldResumes = new Counter({
    name: 'winterdock_resume_cold_total',
    help: 'Cold wakes by where the file came from.',
    labelNames: ['source'],
    registers,
  });
  const ash = options.ashNames ? ashCounters(registers) : null;
  const resumeSeconds = new Histogram({
    name: 'winterdock_resume_seconds',
    help: 'Time that wakes took.',
    labelNames: ['path', 'source'],
    buckets: RESUME_BUCKETS,
    registers,
  });
  const transitions = new Counter({
    name: 'winterdock_transition_total',
    help: 'Transitions by hop and trigger.',
    labelNames: ['from', 'to', 'trigger'],
    registers,
  });

  const thermalMoves = new Counter({
    name: 'winterdock_thermal_total',
    help: 'Processes paused (warm), continued (wake) and paused for their silence (force_pause).',
    labelNames: ['move'],
    registers,
  });
  const thermalWakeSeconds = new Histogram({
    name: 'winterdock_thermal_wake_seconds',
    help: 'Time from the request to the first answer of a process that was paused.',
    buckets: RESUME_BUCKETS,
    registers,
  });

  new Gauge({
    name: 'winterdock_schedules',
    help: 'Schedules: armed for a time, due now (of the armed), running, with failures in a row, resting in an archive.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await registry.schedules.counts(epochSeconds(clock));
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  const scheduleRuns = new Counter({
    name: 'winterdock_schedule_runs_total',
    help: 'Runs of schedules by result; a missed time that is not made up for is skipped.',
    labelNames: ['result'],
    registers,
  });
  const scheduleLateness = new Histogram({
    name: 'winterdock_schedule_lateness_seconds',
    help: 'Time from when a schedule was due to the begin of its run, its spread included.',
    buckets: LATENESS_BUCKETS,
    registers,
  });

  const webhookAttempts = new Counter({
    name: 'winterdock_webhook_attempts_total',
    help: 'Attempts to deliver to webhooks: delivered, retried (it failed and is tried again) or failed for good.',
    labelNames: ['outcome'],
    registers,
  });

  const stalls = new Histogram({
    name: 'winterdock_loop_stall_seconds',
    help: 'Stretches of 50 ms and more in which one piece of work held the server, by method and route.',
    labelNames: ['request'],
    buckets: STALL_BUCKETS,
    registers,
  });
  const longestStall = new Gauge({
    name: 'winterdock_loop_longest_stall_seconds',
    help: 'The longest of these stretches since the start.',
    registers,
  });
  const stalled = new Set<string>();
  let longestSeconds = 0;

  const resumedCold = (source: Source, seconds: number | null) => {
    resumes.inc({ path: 'cold' });
    coldResumes.inc({ source });
    ash?.cold.inc({ source: ASH_SOURCE[source] });
    if (seconds === null) return;
    resumeSeconds.observe({ path: 'cold', source }, seconds);
    times.observe('cold', source, seconds * 1000);
  };
  const stopListening = registry.commitEvents.onOwnAppend((lines) => {
    for (const { type, from, to, trigger, source, tookMs } of lines) {
      if (type.startsWith(THERMAL)) {
        thermalMoves.inc({ move: type.slice(THERMAL.length) });
        if (type === 'thermal.wake' && tookMs !== null) thermalWakeSeconds.observe(tookMs / 1000);
      }
      if (type !== 'transition' || from === null || to === null) continue;
      transitions.inc({ from, to, trigger });
      if (to === 'active' && source !== null) resumedCold(source, tookMs === null ? null : tookMs / 1000);
    }
  });

  return {
    contentType: prom.contentType,
    text: () => prom.metrics(),
    async resumes() {
      const cold: ResumeCounts['cold'] = { local: 0, cloud: 0, fresh: 0 };
      const { values } = await coldResumes.get();
      for (const { labels, value } of values) cold[ASH_SOURCE[labels.source as Source]] += value;
      const warm = (await resumes.get()).values.find(({ labels }) => labels.path === 'warm')?.value ?? 0;
      return { warm, cold };
    },
    resumedWarm(seconds) {
      resumes.inc({ path: 'warm' });
      ash?.warm.inc();
      resumeSeconds.observe({ path: 'warm', source: '' }, seconds);
      times.observe('warm', null, seconds * 1000);
    },
    scheduleRan(result, lateSeconds) {
      scheduleRuns.inc({ result });
      if (lateSeconds !== null) scheduleLateness.observe(lateSeconds);
    },
    webhookAttempted: (outcome) => webhookAttempts.inc({ outcome }),
    loopStalled(request, seconds) {
      const known = request === null || stalled.has(request) || stalled.size < MOST_STALLED;
      if (request !== null && known) stalled.add(request);
      stalls.observe({ request: request === null ? '' : known ? request : 'other' }, seconds);
      longestSeconds = Math.max(longestSeconds, seconds);
      longestStall.set(longestSeconds);
    },
    wakeTimes: (days) => times.summary(days),
    async close() {
      stopListening();
      prom.clear();
      await times.stop();
    },
  };
}
