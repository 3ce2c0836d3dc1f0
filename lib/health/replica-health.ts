/**
 * What the server knows of its replica, for people and monitors, and whether it keeps what was promised. Nothing here
 * asks the store anything.
 */
import type { Clock } from '../base/clock.ts';

/** How far a file is behind, and how far it may be, in milliseconds. */
export interface ReplicaLag {
  behindMs: number;
  promisedMs: number;
  /** Whether it is shipped as it commits; one at rest is listed while something of it is still to be shipped. */
  isAwake: boolean;
}

export interface ReplicaHealthParts {
  /** As in the settings, without credentials. */
  url: string;
  /** What the server promises where nothing else is set. */
  replicate: string;
  /** How long what is kept, as the setting says it. */
  retention: string;
  /** Of what was written since the start. */
  traffic: { readonly month: { requests: number; bytes: number } | null };
  spoolLimitBytes: number;
  files: {
    lags(): ReplicaLag[];
    /** Since when nothing could be stored (monotonic milliseconds), and why; null: it can. */
    readonly away: { sinceMs: number; why: string } | null;
    readonly spoolBytes: number;
    /** Sandboxes at rest that are still to be shipped. */
    readonly stale: { readonly size: number };
  };
  /** Since when the spool has taken nothing of something (monotonic milliseconds), and why; null: it takes all. */
  refusal: () => { sinceMs: number; why: string } | null;
  /** Null: the registry is not shipped. */
  registry: { readonly behindMs: number } | null;
  /** Requests since the start, by what was asked and how it ended. */
  requests: () => Iterable<{ op: string; outcome: string; count: number }>;
  /** Whether these are those of the store below the drawers too. */
  isShared: boolean;
  /** Milliseconds that only grow. */
  monotonic: () => number;
  clock: Clock;
}

/** That sandboxes are more behind than was promised. */
export interface ReplicaLateness {
  /** Epoch seconds. */
  since: number;
  sandboxes: number;
  /** The largest lag, in milliseconds. */
  mostMs: number;
  /** Whether the registry is too. */
  isRegistry: boolean;
}

export interface ReplicaFacts {
  url: string;
  replicate: string;
  retention: string;
  /** What is written in a month that is as the time since the start; null: that is too short. */
  month: { requests: number; bytes: number } | null;
  /** Since when (epoch seconds) nothing can be stored, and why. */
  away: { since: number; why: string } | null;
  /** `refused`: since when (epoch seconds) it has taken nothing of something, and why. */
  spool: { bytes: number; limitBytes: number; refused: { since: number; why: string } | null };
  lag: ReplicaLagSum;
  /** The last time since the start that the history of the registry had a gap of moments; null: none. */
  registryGap: RegistryGap | null;
  /** Sandboxes at rest that are still to be shipped. */
  waiting: number;
  requests: number;
  isShared: boolean;
  late: ReplicaLateness | null;
}

export interface RegistryGap {
  /** Epoch seconds. */
  at: number;
  why: string;
}

export interface ReplicaLagSum {
  /** Sandboxes that are shipped as they commit. */
  open: number;
  /** Those of them, and of those at rest, that the store lacks something of. */
  behind: number;
  /** Of the sandboxes. */
  maxMs: number;
  meanMs: number;
  registryMs: number;
}

/** More than was promised, and this, is late. */
const GRACE_MS = 5000;
/** Of the registry. */
const REGISTRY_MS = 1000;

export class ReplicaHealth {
  readonly #parts: ReplicaHealthParts;
  /** Set by the watch. */
  late: ReplicaLateness | null = null;
  registryGap: RegistryGap | null = null;

  constructor(parts: ReplicaHealthParts) {
    this.#parts = parts;
  }

  /** Why nothing can be stored, in words; null: it can. */
  get whyAway(): string | null {
    return this.#parts.files.away?.why ?? null;
  }

  /** Why something does not get there, in words; null: nothing is in its way. */
  get whyBehind(): string | null {
    const refusal = this.#parts.refusal();
    return this.whyAway ?? (refusal === null ? null : `its spool takes nothing: ${refusal.why}`);
  }

  get spoolBytes(): number {
    return this.#parts.files.spoolBytes;
  }

  lag(): ReplicaLagSum {
    const all = this.#parts.files.lags();
    const lags = all.map(({ behindMs }) => behindMs);
    return {
      open: all.filter(({ isAwake }) => isAwake).length,
      behind: lags.filter((behindMs) => behindMs > 0).length,
      maxMs: lags.reduce((most, behindMs) => Math.max(most, behindMs), 0),
      meanMs: lags.length === 0 ? 0 : lags.reduce((sum, behindMs) => sum + behindMs, 0) / lags.length,
      registryMs: this.#parts.registry?.behindMs ?? 0,
    };
  }

  /** What is more behind than promised and some seconds, and the largest lag of that; null: nothing is. */
  overdue(): Omit<ReplicaLateness, 'since'> | null {
    const { files, registry } = this.#parts;
    const late = files.lags().filter(({ behindMs, promisedMs }) => behindMs > promisedMs + GRACE_MS);
    const registryMs = registry?.behindMs ?? 0;
    const isRegistry = registryMs > REGISTRY_MS + GRACE_MS;
    if (late.length === 0 && !isRegistry) return null;
    const mostMs = late.reduce((most, { behindMs }) => Math.max(most, behindMs), isRegistry ? registryMs : 0);
    return { sandboxes: late.length, mostMs, isRegistry };
  }

  look(): ReplicaFacts {
    const { url, replicate, retention, traffic, spoolLimitBytes, files, refusal, requests, isShared } = this.#parts;
    let sum = 0;
    for (const { count } of requests()) sum += count;
    return {
      url,
      replicate,
      retention,
      month: traffic.month,
      away: this.#since(files.away),
      spool: { bytes: files.spoolBytes, limitBytes: spoolLimitBytes, refused: this.#since(refusal()) },
      lag: this.lag(),
      registryGap: this.registryGap,
      waiting: files.stale.size,
      requests: sum,
      isShared,
      late: this.late,
    };
  }
  /** The same in epoch seconds. */
  #since(what: { sinceMs: number; why: string } | null): { since: number; why: string } | null {
    const { monotonic, clock } = this.#parts;
    if (what === null) return null;
    return { since: Math.floor((clock.now() - (monotonic() - what.sinceMs)) / 1000), why: what.why };
  }
}
