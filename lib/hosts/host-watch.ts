/**
 * The hosts of the registry as this one sees them: their rows, read again and again, and which of them are dead. Knows
 * nothing of sandboxes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { HostRecord, HostStore } from '../registry/hosts.ts';
import { HostObserver, type HostVerdict, LOOKS_PER_LEASE } from './host-observer.ts';

interface HostWatchParts {
  hosts: Pick<HostStore, 'list'>;
  /** The lease of this host: its own and others' are taken for as long. */
  leaseMs: number;
  log: Logger;
}

/** A host as it was seen last. */
export interface SeenHost extends HostRecord {
  readonly verdict: HostVerdict;
}

export class HostWatch {
  readonly #parts: HostWatchParts;
  readonly #observer = new HostObserver();
  readonly #stopped = new AbortController();
  #seen: ReadonlyMap<string, SeenHost> = new Map();
  #looking: Promise<void> | null = null;
  #turn: Promise<void> = Promise.resolve();
  #asked: Promise<void> | null = null;
  readonly #listeners = new Set<(host: string) => void>();
  readonly #lookListeners = new Set<() => void>();

  constructor(parts: HostWatchParts) {
    this.#parts = parts;
  }

  /** The host of this name as it was seen last; null: there is none. */
  get(name: string): SeenHost | null {
    return this.#seen.get(name) ?? null;
  }

  /** Calls back with a host that can be reached no more, or again. Returns the unsubscriber. */
  onReachChange(listener: (host: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back after each look. Returns the unsubscriber. */
  onLook(listener: () => void): () => void {
    this.#lookListeners.add(listener);
    return () => this.#lookListeners.delete(listener);
  }

  /** Looks now, after the look under way. Rejects with the errors of the registry. */
  look(): Promise<void> {
    this.#turn = this.#turn.catch(() => undefined).then(() => this.#look());
    return this.#turn;
  }

  /** Looks once for all that ask meanwhile. Never rejects: what was seen before stays. */
  lookForAll(): Promise<void> {
    this.#asked ??= this.look()
      .catch(() => undefined)
      .finally(() => {
        this.#asked = null;
      });
    return this.#asked;
  }

  /** All of them, by name. */
  list(): SeenHost[] {
    return [...this.#seen.values()];
  }

  /** Looks once, and from then on again and again. Rejects with the errors of the registry. */
  async start(): Promise<void> {
    await this.look();
    this.#looking ??= this.#lookOn();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#looking;
  }

  /** Never rejects. */
  async #lookOn(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const leases = this.list().flatMap(({ leaseMs }) => leaseMs ?? []);
      const waitMs = Math.min(this.#parts.leaseMs, ...leases) / LOOKS_PER_LEASE;
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await this.look().catch((error: unknown) => {
        this.#parts.log.debug({ err: error }, 'the hosts of the registry were not seen');
      });
    }
  }

  async #look(): Promise<void> {
    const { hosts, log } = this.#parts;
    const askedMs = performance.now();
    const rows = await hosts.list().catch((error: unknown) => {
      // What is known of each host's row stays; that it is dead has to be seen anew.
      this.#observer.connectionLost();
      throw error;
    });
    const verdicts = this.#observer.read({ askedMs, answeredMs: performance.now(), hosts: rows });
    const before = this.#seen;
    this.#seen = new Map(rows.map((row) => [row.name, { ...row, verdict: verdicts.get(row.name) ?? 'free' }]));
    for (const { name, verdict } of this.#seen.values()) {
      const was = before.get(name)?.verdict;
      if (verdict === 'dead' && was !== 'dead') log.warn({ host: name }, 'a host is dead: it does not renew its lease');
      if (verdict !== 'dead' && was === 'dead') log.info({ host: name }, 'a host that was dead is back');
      if (was !== undefined && (verdict === 'held') !== (was === 'held'))
        for (const listener of this.#listeners) listener(name);
    }
    for (const listener of this.#lookListeners) listener();
  }
}
