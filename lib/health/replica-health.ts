/**
 * What the server knows of its replica, for people and monitors, and whether it keeps what was promised. Nothing here
 * asks the store anything.
 */
import type { Clock } from '../base/clock.ts';

/** How far an open file is behind, and how far it may be, in milliseconds. */
export interface ReplicaLag {
  behindMs: number;
  promisedMs: number;
}

export interface ReplicaHealthParts {
  /** As in the settings, without credentials. */
  url: string;
  /** What the server promises where nothing else is set. */
  replicate: string;
  spoolLimitBytes: number;
  files: {
    lags(): ReplicaLag[];
    /** Since when nothing could be stored (monotonic milliseconds), and why; null: it can. */
    readonly away: { sinceMs: number; why: string } | null;
    readonly spoolBytes: number;
    /** Sandboxes at rest that are still to be shipped. */
    readonly stale: { readonly size: number };
  };
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
}

export interface ReplicaFacts {
  url: string;
  replicate: string;
  /** Since when (epoch seconds) nothing can be stored, and why. */
  away: { since: number; why: string } | null;
  spool: { bytes: number; limitBytes: number };
  lag: ReplicaLagSum;
  /** Sandboxes at rest that are still to be shipped. */
  waiting: number;
  requests: number;
  isShared: boolean;
  late: ReplicaLateness | null;
}

export interface ReplicaLagSum {
  /** Sandboxes that are shipped as they commit, and those of them that the store lacks something of. */
  open: number;
  behind: number;
  maxMs: number;
  meanMs: number;
}

/** More than was promised, and this, is late. */
const GRACE_MS = 5000;

export class ReplicaHealth {
  readonly #parts: ReplicaHealthParts;
  /** Set by the watch. */
  late: ReplicaLateness | null = null;

  constructor(parts: ReplicaHealthParts) {
    this.#parts = parts;
  }

  /** Why nothing can be stored, in words; null: it can. */
  get whyAway(): string | null {
    return this.#parts.files.away?.why ?? null;
  }

  get spoolBytes(): number {
    return this.#parts.files.spoolBytes;
  }

  lag(): ReplicaLagSum {
    const lags = this.#parts.files.lags().map(({ behindMs }) => behindMs);
    return {
      open: lags.length,
      behind: lags.filter((behindMs) => behindMs > 0).length,
      maxMs: lags.reduce((most, behindMs) => Math.max(most, behindMs), 0),
      meanMs: lags.length === 0 ? 0 : lags.reduce((sum, behindMs) => sum + behindMs, 0) / lags.length,
    };
  }

  /** The sandboxes that are more behind than promised and some seconds, and the largest lag of them; null: none is. */
  overdue(): { sandboxes: number; mostMs: number } | null {
    const late = this.#parts.files.lags().filter(({ behindMs, promisedMs }) => behindMs > promisedMs + GRACE_MS);
    if (late.length === 0) return null;
    return { sandboxes: late.length, mostMs: late.reduce((most, { behindMs }) => Math.max(most, behindMs), 0) };
  }

  look(): ReplicaFacts {
    const { url, replicate, spoolLimitBytes, files, requests, isShared, monotonic, clock } = this.#parts;
    const { away } = files;
    let sum = 0;
    for (const { count } of requests()) sum += count;
    return {
      url,
      replicate,
      away:
        away === null
          ? null
          : { since: Math.floor((clock.now() - (monotonic() - away.sinceMs)) / 1000), why: away.why },
      spool: { bytes: files.spoolBytes, limitBytes: spoolLimitBytes },
      lag: this.lag(),
      waiting: files.stale.size,
      requests: sum,
      isShared,
      late: this.late,
    };
  }
}
