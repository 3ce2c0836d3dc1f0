/**
 * The files of snapshots and blueprints in the replica: each once, under its hash, behind everything else. What is to
 * be shipped is found in the registry's rows, so a restart loses nothing. Nothing is removed here: see
 * lib/host/replica-copies.ts. For an installation without a store below its drawers, which would have them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CopyKind } from '../base/copy-paths.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

/** Rows asked for at once. */
const PAGE = 200;
/** Pauses after a failure, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Lines of the ledger after which there may be a copy to ship. */
const MADE = /^(?:snapshot|blueprint|moment)\./;

type Lineage = Pick<InstanceRow, 'lineageSnapshot' | 'lineageBlueprint'>;

export interface ShippedCopiesParts {
  store: Pick<ObjectStore, 'head' | 'upload'>;
  /** The name of a copy in the replica. */
  nameOf: (kind: CopyKind, hash: string) => string;
  drawers: Pick<Drawers, CopyKind>;
  registry: Pick<Registry, 'commitEvents' | 'copies'>;
  log: Logger;
}

export class ShippedCopies {
  readonly #parts: ShippedCopiesParts;
  readonly #shipped = new Set<string>();
  readonly #ending = new AbortController();
  #wake = new AbortController();
  #unsubscribe: (() => void) | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: ShippedCopiesParts) {
    this.#parts = parts;
  }

  /** Ships what is not in the replica, now and whenever a copy is made. Idempotent. */
  start(): void {
    if (this.#unsubscribe !== null) return;
    const { commitEvents } = this.#parts.registry;
    this.#unsubscribe = commitEvents.onLedgerAppend(({ lines }) => {
      if (lines.some(({ type }) => MADE.test(type))) this.#wake.abort();
    });
    this.#round = this.#run();
  }

  /** Whether the replica has the copy that a sandbox is made of, which is shipped now if need be; false: not yet. */
  async shippedFor({ lineageSnapshot, lineageBlueprint }: Lineage): Promise<boolean> {
    const { copies } = this.#parts.registry;
    const snapshot = lineageSnapshot === null ? null : await copies.snapshot(lineageSnapshot);
    const blueprint = lineageBlueprint === null ? null : await copies.blueprint(lineageBlueprint);
    try {
      if (snapshot !== null) return await this.#ship('snapshot', snapshot.hash);
      return blueprint === null || (await this.#ship('blueprint', blueprint.hash));
    } catch {
      // It is away, and was warned of.
      return false;
    }
  }

  /** The replica was asked to remove a copy: it is shipped again where one with its bytes was made meanwhile. */
  forget(name: string): void {
    this.#shipped.delete(name);
    this.#wake.abort();
  }

  /** The replica lacks something that it was given: it is asked for all copies again. */
  lookAgain(): void {
    this.#shipped.clear();
    this.#wake.abort();
  }

  /** Ends transfers under way: another start begins them anew. */
  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#ending.abort();
    this.#wake.abort();
    await this.#round;
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#ending.signal.aborted; ) {
      this.#wake = new AbortController();
      const failed = await this.#shipAll().catch((error: unknown) => {
        this.#warn('copies are not in the replica yet', error);
        return true;
      });
      failures = failed ? failures + 1 : 0;
      if (failed) await this.#pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)));
      else await this.#woken();
    }
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined);
  }

  #woken(): Promise<void> {
    const { signal } = this.#wake;
    if (signal.aborted || this.#ending.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Returns whether something is to be tried again. */
  async #shipAll(): Promise<boolean> {
    const { copies } = this.#parts.registry;
    let failed = false;
    for (let cursor: string | null | undefined; cursor !== null && !this.#ending.signal.aborted; ) {
      const page = await copies.snapshots({}, PAGE, cursor);
      for (const { hash, deleted } of page.rows) {
        if (deleted === null && !(await this.#ship('snapshot', hash))) failed = true;
      }
      cursor = page.next;
    }
    for (let cursor: string | null | undefined; cursor !== null && !this.#ending.signal.aborted; ) {
      const page = await copies.blueprints(PAGE, cursor);
      for (const { hash } of page.rows) if (!(await this.#ship('blueprint', hash))) failed = true;
      cursor = page.next;
    }
    return failed;
  }

  /** False: it could not be shipped now. Throws while the store is away. */
  async #ship(kind: CopyKind, hash: string): Promise<boolean> {
    const { store, nameOf, drawers } = this.#parts;
    const { signal } = this.#ending;
    const name = nameOf(kind, hash);
    if (signal.aborted || this.#shipped.has(name)) return true;
    try {
      if ((await store.head(name, { signal })) === null) {
        await drawers[kind].at(hash).read((path) => store.upload(name, path, { sha256: hash, signal }));
      }
      this.#shipped.add(name);
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      if (isWinterdockError(error) && error.code === 'storage_unavailable') throw error;
      // Its file may have been deleted meanwhile; a damaged one is the scrubber's.
      this.#warn(`the ${kind} ${hash} is not in the replica`, error);
      return isWinterdockError(error) && error.code === 'missing_file';
    }
  }

  #warn(what: string, error: unknown): void {
    this.#parts.log.warn({ error: messageOf(error) }, what);
  }
}
