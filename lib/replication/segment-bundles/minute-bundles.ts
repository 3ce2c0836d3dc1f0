/**
 * The minutes of many sandboxes on their way to the store: those of a tenant that are merged within a moment travel as
 * one. Nobody waits for them but what merges them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type BundlePart, minuteOf, parseBundleName } from '../names/bundle-names.ts';
import type { StoredSegment } from '../names/level-groups.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';
import { type BundleWriter, MOST_BUNDLE_BYTES, MOST_BUNDLED_BYTES } from './bundle-writer.ts';

/** What is merged within so many milliseconds goes as one. */
const GATHER_MS = 2000;

export interface MinuteBundlesParts {
  bundles: Pick<BundleWriter, 'sendMinutes' | 'gathered'>;
  /** Hears of each object that was written. */
  traffic?: { wrote(bytes: number): void };
  /** Default: two seconds. */
  gatherMs?: number;
}

interface Waiting {
  readonly minute: SpooledSegment;
  readonly signal: AbortSignal;
  readonly done: PromiseWithResolvers<BundlePart>;
  isOnItsWay: boolean;
}

/** Those of a tenant and a minute that go next. */
interface Gathering {
  readonly waiting: Waiting[];
  bytes: number;
  readonly full: AbortController;
}

export class MinuteBundles {
  readonly #parts: MinuteBundlesParts;
  readonly #gathering = new Map<string, Gathering>();
  readonly #sending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(parts: MinuteBundlesParts) {
    this.#parts = parts;
  }

  /** Ends what is on its way. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('It was given up.'));
    await Promise.all(this.#sending);
  }

  /** With whose minutes one travels that is made of `segments`; null: it lies by itself. */
  tenantFor(segments: readonly StoredSegment[], bytes: number): string | null {
    const bundled = segments.find((segment) => segment.bundled !== undefined)?.bundled;
    if (bundled === undefined || bytes > MOST_BUNDLED_BYTES) return null;
    return parseBundleName(bundled.name)?.tenant ?? null;
  }

  /**
   * Resolves with where a minute lies once its bundle is whole in the store. `commits`: what it was merged from;
   * `signal`: it is not sent any more; what is on its way then arrives all the same before this settles.
   */
  async put(
    tenant: string,
    minute: SpooledSegment,
    commits: readonly StoredSegment[],
    signal: AbortSignal,
  ): Promise<BundlePart> {
    signal.throwIfAborted();
    this.#ending.signal.throwIfAborted();
    const key = `${tenant} ${minuteOf(minute.timeMs)}`;
    const known = this.#gathering.get(key);
    const gathering = known ?? { waiting: [], bytes: 0, full: new AbortController() };
    const done = Promise.withResolvers<BundlePart>();
    const one: Waiting = { minute, signal, done, isOnItsWay: false };
    gathering.waiting.push(one);
    signal.addEventListener('abort', () => {
      if (!one.isOnItsWay) done.reject(signal.reason);
    });
    gathering.bytes += minute.bytes;
    if (known === undefined) this.#gather(tenant, key, gathering);
    if (gathering.bytes >= MOST_BUNDLE_BYTES) {
      this.#gathering.delete(key);
      gathering.full.abort();
    }
    const part = await done.promise;
    this.#parts.bundles.gathered(tenant, commits);
    return part;
  }

  #gather(tenant: string, key: string, gathering: Gathering): void {
    this.#gathering.set(key, gathering);
    const signal = AbortSignal.any([gathering.full.signal, this.#ending.signal]);
    const sending = pause(this.#parts.gatherMs ?? GATHER_MS, undefined, { signal, ref: false })
      .catch(() => undefined)
      .then(() => {
        if (this.#gathering.get(key) === gathering) this.#gathering.delete(key);
        return this.#send(tenant, gathering.waiting);
      })
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  /** Never rejects: each of them hears of it. */
  async #send(tenant: string, all: readonly Waiting[]): Promise<void> {
    const waiting = all.filter(({ signal }) => !signal.aborted);
    try {
      this.#ending.signal.throwIfAborted();
      if (waiting.length > 0) {
        for (const one of waiting) one.isOnItsWay = true;
        const minutes = waiting.map(({ minute }) => minute);
        const { parts, bytes } = await this.#parts.bundles.sendMinutes(tenant, minutes, this.#ending.signal);
        this.#parts.traffic?.wrote(bytes);
        for (const [at, { done }] of waiting.entries()) {
          const part = parts[at];
          if (part !== undefined) done.resolve(part);
        }
      }
    } catch (error) {
      for (const { done } of waiting) done.reject(error);
    }
  }
}
