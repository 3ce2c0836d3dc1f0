/** What the server knows of the object store, for people and monitors: nothing here asks the store anything. */
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { StoreSettings } from '../base/store-settings.ts';
import type { Registry } from '../registry/registry.ts';
import type { StoreTraits } from '../storage/object-store/object-store.ts';

/** What is asked of the parts that use the store. */
export interface StoreReportParts {
  settings: Pick<StoreSettings, 'ack' | 'cacheBytes' | 'isLeaving'>;
  /** As in the settings, without credentials. */
  url: string;
  /** Since when the store is away (epoch milliseconds), and why in words; null: it can be used. */
  away: () => { sinceMs: number; why: string } | null;
  /** What was found of it at the start; null: it could not be asked yet. */
  traits: () => StoreTraits | null;
  /** Uploads that run. */
  uploading: () => number;
  /** Bytes of local copies of stored files. */
  cachedBytes: () => number;
  /** Requests since the start, by what was asked and how it ended. */
  requests: () => Iterable<{ op: string; outcome: string; count: number }>;
  /** How far the files are that come back to this machine; null: they are stored. */
  leaving: (() => Promise<LeavingStatus>) | null;
  registry: Pick<Registry, 'instances'>;
  /** This host. */
  host: string;
  clock: Clock;
}

/** What is left, of the most that was. */
interface AmountLeft {
  left: number;
  of: number;
}

/** How far a server is that is to do without its store. */
export interface LeavingStatus {
  /** When it began, in epoch seconds. */
  since: number;
  /** Sandboxes whose rows name an object. */
  sandboxes: AmountLeft;
  /** Snapshots and blueprints whose file only the store has, each content once. */
  copies: AmountLeft;
  /** Of the objects of these sandboxes. */
  bytes: AmountLeft;
  /** What was not brought in the last round, with the reason; the first of them. */
  stays: { name: string; why: string }[];
  /** A round has ended, and nothing was left. */
  isDone: boolean;
}

export interface StoreStatus {
  url: string;
  ack: 'stored' | 'queued';
  away: { since: number; why: string } | null;
  lacks: string[] | null;
  rows: number;
  uploads: { queued: number; running: number; since: number | null };
  cache: { bytes: number; limitBytes: number };
  leaving: LeavingStatus | null;
}

export class StoreReport {
  readonly #parts: StoreReportParts;

  constructor(parts: StoreReportParts) {
    this.#parts = parts;
  }

  /** Why the store cannot be used, in words; null: it can be. */
  get whyAway(): string | null {
    return this.#parts.away()?.why ?? null;
  }

  /** Requests since the start, by what was asked and how it ended. */
  requests(): Iterable<{ op: string; outcome: string; count: number }> {
    return this.#parts.requests();
  }

  /** Uploads that wait and that run, and how long the oldest has waited, in seconds. */
  async queue(): Promise<{ queued: number; running: number; oldestSeconds: number }> {
    const { uploading, clock } = this.#parts;
    const { n, since } = await this.#backlog();
    const running = Math.min(n, uploading());
    return {
      queued: n - running,
      running,
      oldestSeconds: since === null ? 0 : Math.max(0, epochSeconds(clock) - since),
    };
  }

  /** What is to stay on this machine waits for no upload. */
  async #backlog(): Promise<{ n: number; since: number | null }> {
    const { settings, registry, host } = this.#parts;
    return settings.isLeaving ? { n: 0, since: null } : registry.instances.uploadBacklog(host);
  }

  /** All of it. Its cost does not depend on how much is stored. */
  async look(): Promise<StoreStatus> {
    const { settings, url, registry, uploading, cachedBytes, traits, leaving } = this.#parts;
    const [rows, { n, since }] = await Promise.all([registry.instances.countInStore(), this.#backlog()]);
    const away = this.#parts.away();
    const found = traits();
    const running = Math.min(n, uploading());
    return {
      url,
      ack: settings.ack,
      away: away === null ? null : { since: Math.floor(away.sinceMs / 1000), why: away.why },
      lacks: found === null ? null : lacksInWords(found),
      rows,
      uploads: { queued: n - running, running, since },
      cache: { bytes: cachedBytes(), limitBytes: settings.cacheBytes },
      leaving: (await leaving?.()) ?? null,
    };
  }
}

/** What a store does not keep of what it was asked for, and what of its own may surprise: a clause each. */
export function lacksInWords(traits: StoreTraits): string[] {
  const { versioning, lockDays, expiry } = traits;
  const lacks: [boolean, string][] = [
    [!traits.read, 'what was written cannot be read at once: nothing is safe in it'],
    [!traits.list, 'new objects are not listed at once'],
    [!traits.remove, 'removed objects can still be read'],
    [traits.ifAbsentMade === false, 'a write on condition that the name is free is refused'],
    [traits.ifAbsentRefused === false, 'a write on condition that the name is free replaces what is there'],
    [traits.ifMatchMade === false || traits.ifMatchRefused === false, 'writes on condition of a version are not kept'],
    [versioning === 'on', 'older versions are kept: what is removed goes with all of them'],
    [(lockDays ?? 0) > 0, `a lock keeps objects for ${lockDays} days: nothing can be removed before`],
  ];
  return [
    ...lacks.filter(([holds]) => holds).map(([, words]) => words),
    ...(expiry ?? []).map((rule) => `a rule of the store removes objects: ${rule}`),
  ];
}
