/**
 * Load while it happens: a sample of each awake sandbox, its tenant and the server each ten seconds, kept for an hour
 * in memory, and their sums by the minute, kept for a day in a file, in one write a minute. A sandbox that sleeps costs
 * nothing. What was not measured is a gap, never a zero: before the start of the server, while the machine was asleep,
 * and before a clock that was set back. Lengths of time are of the monotonic clock, only moments are of the other.
 */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Registry } from '../../registry/registry.ts';
import type { LoadFeed } from '../../sandboxes/load-feed.ts';
import { LoadRing, type LoadSample, SAMPLES, SAMPLES_A_DISK } from './load-ring.ts';
import { type LoadSubject, type LoadSum, MinutesFile } from './minutes-file.ts';

/** Between two samples, which are taken at whole tens of seconds. */
const SAMPLE_MS = 10_000;
const MINUTE_MS = 60_000;
/** After a longer time without a sample, nothing is known of it: the server or its machine stood still. */
const LONGEST_MS = 60_000;
/** A clock that is corrected by less has not been set back. */
const CORRECTION_MS = 5000;
/** Series in memory at most: 24 MB. Those that ended first go first. */
const MOST_SERIES = 6000;

interface Series extends LoadSubject {
  readonly ring: LoadRing;
  /** Of the minute that is not written yet; null: nothing. */
  minute: LoadSum | null;
}

/** What was taken in a stretch of time, of which `measuredMs` were measured. Milliseconds since the epoch. */
export interface LoadStretch extends LoadSum {
  fromMs: number;
  toMs: number;
}

/** Who took what in a time: a sandbox of a tenant, or a tenant of the server. */
export interface LoadShare extends LoadSample {
  name: string;
}

export interface SamplerParts {
  clock: Clock;
  log: Logger;
  feed: LoadFeed;
  network: { onCarried(watcher: (carried: LoadSubject & { bytesIn: number; bytesOut: number }) => void): () => void };
  registry: {
    commitEvents: Pick<Registry['commitEvents'], 'onLedgerAppend'>;
    quotas: Pick<Registry['quotas'], 'tenant'>;
  };
  /** Absolute. */
  dataFolder: string;
  /** Milliseconds of a clock that nobody sets. */
  monotonicMs?: () => number;
}

const NOTHING: LoadSample = { cpuMs: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0 };
const SERVER: LoadSubject = { tenant: '', id: '' };

export class LoadSampler {
  readonly #parts: SamplerParts;
  readonly #monotonicMs: () => number;
  readonly #file: MinutesFile;
  /** By tenant and id. */
  readonly #series = new Map<string, Series>();
  /** When each sample was taken, and what time it is of. NaN: nothing is known of it. */
  readonly #takenMs = new Float64Array(SAMPLES).fill(Number.NaN);
  readonly #lengthsMs = new Float64Array(SAMPLES);
  /** What was taken since the last sample. */
  #uses = new Map<string, LoadSubject & LoadSample>();
  #number = -1;
  #minute = 0;
  #lastMs = 0;
  #lastMonotonicMs = 0;
  #sinceMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #leave: (() => void)[] = [];
  #isFileAway = false;
  /** Since the start of the server. */
  readonly totals = { bytesIn: 0, bytesOut: 0, tookMs: 0 };

  constructor(parts: SamplerParts) {
    this.#parts = parts;
    this.#monotonicMs = parts.monotonicMs ?? (() => performance.now());
    this.#file = new MinutesFile(join(parts.dataFolder, 'load', 'minutes.sqlite'));
  }

  /** Begins to sample. What an earlier server kept of tenants that are unknown now goes. */
  async start(): Promise<void> {
    const { clock, feed, network, registry } = this.#parts;
    this.#lastMs = clock.now();
    this.#sinceMs = this.#lastMs;
    this.#lastMonotonicMs = this.#monotonicMs();
    this.#leave = [
      feed.onUse(({ cpuSeconds, ...use }) => this.#note(use, { ...use, cpuMs: cpuSeconds * 1000 })),
      network.onCarried((carried) => {
        this.totals.bytesIn += carried.bytesIn;
        this.totals.bytesOut += carried.bytesOut;
        this.#note(carried, carried);
      }),
      registry.commitEvents.onLedgerAppend(({ lines }) => {
        for (const { type, tenant } of lines) if (type === 'tenant.forgotten' && tenant !== null) this.#forget(tenant);
      }),
    ];
    this.#schedule();
    for (const tenant of this.#withFile((file) => file.tenants()) ?? [])
      if ((await registry.quotas.tenant(tenant)) === null) this.#forget(tenant);
  }

  /** Takes a last sample and writes the minute. Idempotent. */
  stop(): void {
    if (this.#leave.length === 0) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.sample();
    for (const leave of this.#leave) leave();
    this.#leave = [];
    this.#writeMinute();
    this.#file.close();
  }

  #schedule(): void {
    const wholeMs = SAMPLE_MS - (this.#parts.clock.now() % SAMPLE_MS);
    // A timer that is early by a millisecond would be called again at once.
    const toNextMs = wholeMs < SAMPLE_MS / 2 ? wholeMs + SAMPLE_MS : wholeMs;
    this.#timer = setTimeout(() => {
      this.sample();
      this.#schedule();
    }, toNextMs).unref();
  }

  /** Series that are in memory. */
  get size(): number {
    return this.#series.size;
  }

  /** Since when there are samples: an hour, or as long as the server runs or its clock was not set back. */
  get sinceMs(): number {
    return Math.max(this.#sinceMs, this.#parts.clock.now() - SAMPLES * SAMPLE_MS);
  }

  /** Takes a sample of all that are awake, and of what ended since the last one. */
  sample(): void {
    const began = performance.now();
    const [nowMs, monotonicMs] = [this.#parts.clock.now(), this.#monotonicMs()];
    const lengthMs = monotonicMs - this.#lastMonotonicMs;
    if (nowMs < this.#lastMs - CORRECTION_MS) this.#setBack(nowMs - lengthMs);
    [this.#lastMs, this.#lastMonotonicMs] = [nowMs, monotonicMs];
    const serving = this.#parts.feed.serving();
    const uses = this.#uses;
    this.#uses = new Map();
    // What was taken in a time that nobody knows has no rate. The hours have it.
    if (lengthMs > 0 && lengthMs <= LONGEST_MS) this.#take(serving, uses, { nowMs, lengthMs });
    this.totals.tookMs += performance.now() - began;
  }

  #take(
    serving: ReturnType<LoadFeed['serving']>,
    uses: Map<string, LoadSubject & LoadSample>,
    { nowMs, lengthMs }: { nowMs: number; lengthMs: number },
  ): void {
    const minute = Math.floor((nowMs - lengthMs / 2) / MINUTE_MS);
    if (minute !== this.#minute) this.#writeMinute();
    this.#minute = minute;
    this.#number += 1;
    this.#takenMs[this.#number % SAMPLES] = nowMs;
    this.#lengthsMs[this.#number % SAMPLES] = lengthMs;
    const isDiskDue = this.#number % SAMPLES_A_DISK === 0;
    const together = new Map<string, LoadSubject & LoadSample>();
    const record = (subject: LoadSubject, sample: LoadSample): Series => {
      for (const { tenant, id } of [{ tenant: subject.tenant, id: '' }, SERVER]) {
        const sum = together.get(tenant) ?? { tenant, id, ...NOTHING };
        together.set(tenant, addedTo(sum, sample, sum.memoryBytes + sample.memoryBytes));
      }
      return this.#record(subject, sample, lengthMs);
    };
    for (const { id, tenant, memoryBytes } of serving) {
      const key = keyOf({ id, tenant });
      const isNew = !this.#series.has(key);
      const series = record({ id, tenant }, { ...(uses.get(key) ?? NOTHING), memoryBytes });
      uses.delete(key);
      if (isNew || isDiskDue) noteDisk(series, this.#parts.feed.diskBytes(id));
    }
    // Whose process has ended meanwhile.
    for (const use of uses.values()) record(use, use);
    for (const sum of together.values()) this.#record(sum, sum, lengthMs);
    this.#drop();
  }

  #record({ tenant, id }: LoadSubject, sample: LoadSample, lengthMs: number): Series {
    const key = keyOf({ tenant, id });
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { tenant, id, ring: new LoadRing(), minute: null };
      this.#series.set(key, series);
    }
    series.ring.write(this.#number, sample);
    series.minute ??= { ...NOTHING, measuredMs: 0, diskBytes: null };
    series.minute.measuredMs += lengthMs;
    addedTo(series.minute, sample, Math.max(series.minute.memoryBytes, sample.memoryBytes));
    return series;
  }

  #note({ tenant, id }: LoadSubject, use: Partial<LoadSample>): void {
    const key = keyOf({ tenant, id });
    const sum = this.#uses.get(key) ?? { tenant, id, ...NOTHING };
    this.#uses.set(key, addedTo(sum, { ...NOTHING, ...use }, Math.max(sum.memoryBytes, use.memoryBytes ?? 0)));
  }

  /** What was sampled of a subject, oldest first. */
  samplesOf(subject: LoadSubject): LoadStretch[] {
    const ring = this.#series.get(keyOf(subject))?.ring;
    if (ring === undefined) return [];
    const found: LoadStretch[] = [];
    for (let number = Math.max(0, this.#number - SAMPLES + 1); number <= ring.last; number += 1) {
      const sample = ring.read(number);
      const toMs = this.#takenMs[number % SAMPLES] ?? Number.NaN;
      if (sample === null || Number.isNaN(toMs)) continue;
      const measuredMs = this.#lengthsMs[number % SAMPLES] ?? 0;
      found.push({ ...sample, fromMs: toMs - measuredMs, toMs, measuredMs });
    }
    return found;
  }

  /** The minutes of a subject since `fromMs` and before `untilMs`, the one that is not over included, oldest first. */
  minutesOf(subject: LoadSubject, fromMs: number, untilMs: number): LoadStretch[] {
    const [from, until] = [Math.floor(fromMs / MINUTE_MS), Math.ceil(untilMs / MINUTE_MS)];
    const rows = this.#withFile((file) => file.read(subject, from, until)) ?? [];
    const open = this.#series.get(keyOf(subject))?.minute ?? null;
    // A restart has left a part of this minute in the file.
    if (open !== null && this.#minute >= from && this.#minute < until) rows.push({ ...open, minute: this.#minute });
    return rows.map(({ minute, ...sum }) => ({ ...sum, fromMs: minute * MINUTE_MS, toMs: (minute + 1) * MINUTE_MS }));
  }

  /** The `count` that took most since `fromMs`, as far as samples are kept: of a tenant its sandboxes, else tenants. */
  top(tenant: string | null, fromMs: number, untilMs: number, count: number): LoadShare[] {
    const shares: LoadShare[] = [];
    for (const series of count === 0 ? [] : this.#series.values()) {
      const isOne = tenant === null ? series.id === '' && series.tenant !== '' : series.tenant === tenant;
      if (!isOne || (tenant !== null && series.id === '')) continue;
      const share: LoadShare = { name: tenant === null ? series.tenant : series.id, ...NOTHING };
      const within = this.samplesOf(series).filter(({ fromMs: begin, toMs }) => toMs > fromMs && begin < untilMs);
      for (const sample of within) addedTo(share, sample, Math.max(share.memoryBytes, sample.memoryBytes));
      if (within.length > 0) shares.push(share);
    }
    return shares
      .sort(
        (one, other) =>
          other.cpuMs - one.cpuMs || other.memoryBytes - one.memoryBytes || (one.name < other.name ? -1 : 1),
      )
      .slice(0, count);
  }

  /** The samples and minutes of a time that comes again are no longer known. */
  #setBack(toMs: number): void {
    for (const [place, takenMs] of this.#takenMs.entries()) if (takenMs > toMs) this.#takenMs[place] = Number.NaN;
    this.#sinceMs = Math.min(this.#sinceMs, toMs);
    for (const series of this.#series.values()) series.minute = null;
    this.#withFile((file) => file.deleteSince(Math.floor(toMs / MINUTE_MS)));
  }

  #writeMinute(): void {
    const sums: (LoadSubject & LoadSum)[] = [];
    for (const series of this.#series.values()) {
      if (series.minute !== null) sums.push({ tenant: series.tenant, id: series.id, ...series.minute });
      series.minute = null;
    }
    if (sums.length > 0) this.#withFile((file) => file.write(this.#minute, sums));
  }

  /** A file that cannot be read or written costs its minutes; whatever else the server does goes on. */
  #withFile<T>(work: (file: MinutesFile) => T): T | undefined {
    try {
      const result = work(this.#file);
      this.#isFileAway = false;
      return result;
    } catch (err) {
      if (!this.#isFileAway) this.#parts.log.warn({ err }, 'minutes of load are not kept until their file can be used');
      this.#isFileAway = true;
      return undefined;
    }
  }

  #forget(tenant: string): void {
    for (const [key, series] of this.#series) if (series.tenant === tenant) this.#series.delete(key);
    for (const [key, use] of this.#uses) if (use.tenant === tenant) this.#uses.delete(key);
    this.#withFile((file) => file.forget(tenant));
  }

  /** Drops the series of which no sample is left, and the oldest of too many. */
  #drop(): void {
    for (const [key, { ring }] of this.#series) if (ring.last <= this.#number - SAMPLES) this.#series.delete(key);
    const more = this.#series.size - MOST_SERIES;
    if (more <= 0) return;
    const byEnd = [...this.#series].sort(([, one], [, other]) => one.ring.last - other.ring.last);
    for (const [key] of byEnd.slice(0, more)) this.#series.delete(key);
  }
}

function keyOf({ tenant, id }: LoadSubject): string {
  return `${tenant} ${id}`;
}

/** Adds to `sum` and returns it. */
function addedTo<T extends LoadSample>(sum: T, more: LoadSample, memoryBytes: number): T {
  sum.cpuMs += more.cpuMs;
  sum.calls += more.calls;
  sum.bytesIn += more.bytesIn;
  sum.bytesOut += more.bytesOut;
  sum.memoryBytes = memoryBytes;
  return sum;
}

function noteDisk(series: Series, bytes: number | null): void {
  if (bytes === null) return;
  series.ring.writeDisk(bytes);
  if (series.minute !== null) series.minute.diskBytes = bytes;
}
