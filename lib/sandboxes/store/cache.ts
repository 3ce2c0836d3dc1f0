/**
 * The cached copies of files that are in the store: at most so many bytes of them stay on this disk, those that were
 * used last. Removes nothing but a copy of what a row names in the store, under that sandbox's lock, after asking the
 * store whether it has the object; what that has forgotten is uploaded again. A copy of what another host has taken
 * from the store since is removed without asking. What is cached is in memory only, found again at a start by looking
 * at the drawers.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { isCloudAddress, objectNameOf } from '../../base/cloud-address.ts';
import { messageOf } from '../../base/errors.ts';
import { type InstanceId, instanceIdOfFile } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { sameStamp } from '../../storage/stamp.ts';
import { type Engine, isOwn, now, systemAudit } from '../engine.ts';
import { fileOf, localAddressOf } from '../files/file-locations.ts';
import { stampAt } from '../files/file-verification.ts';

/** A copy that was brought or used stays so long, in milliseconds: whoever asked for it has begun with it by then. */
const KEPT_MS = 10_000;
/** How much longer it stays when the store is away, in milliseconds. */
const AWAY_MS = 60_000;

interface Cached {
  bytes: number;
  /** Of `performance.now()`. */
  usedAt: number;
}

export class StoreCache {
  readonly #engine: Engine;
  readonly #most: number;
  readonly #keptMs: number;
  /** Least recently used first. */
  #cached = new Map<InstanceId, Cached>();
  #bytes = 0;
  #evicting: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** `most` in bytes. `keptMs`: for tests. */
  constructor(engine: Engine, most: number, { keptMs = KEPT_MS } = {}) {
    this.#engine = engine;
    this.#most = most;
    this.#keptMs = keptMs;
  }

  get usage(): { files: number; bytes: number } {
    return { files: this.#cached.size, bytes: this.#bytes };
  }

  /** Finds what an earlier process left, beside everything else. */
  async start(): Promise<void> {
    const { registry, drawers, stop } = this.#engine;
    const found: { id: InstanceId; bytes: number; updated: number }[] = [];
    for (const drawer of [drawers.cold, drawers.archive]) {
      for await (const keys of drawer.keyPages()) {
        for (const key of keys) {
          if (stop.aborted) return;
          await turn();
          const id = instanceIdOfFile(key);
          const row = await registry.instances.get(id);
          if (row === null || !isCloudAddress(row.vfsPath)) continue;
          const bytes = (await fileOf(this.#engine, row).stat())?.size ?? 0;
          found.push({ id, bytes, updated: row.updated });
        }
      }
    }
    found.sort((one, other) => one.updated - other.updated);
    const since = this.#cached;
    this.#cached = new Map();
    this.#bytes = 0;
    for (const { id, bytes } of found) if (!since.has(id)) this.#add(id, { bytes, usedAt: Number.NEGATIVE_INFINITY });
    for (const [id, cached] of since) this.#add(id, cached);
    this.#evict();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#evicting;
  }

  /** The copy was used, brought, or is one since its upload. */
  used({ id, file, vfsPath }: Pick<InstanceRow, 'id' | 'file' | 'vfsPath'>): void {
    if (!isCloudAddress(vfsPath)) return;
    this.drop(id);
    this.#add(id, { bytes: file?.size ?? 0, usedAt: performance.now() });
    this.#evict();
  }

  /** A verb begins on the sandbox: its file moves on, and counts again when it comes back. */
  drop(id: InstanceId): void {
    const cached = this.#cached.get(id);
    if (cached === undefined) return;
    this.#cached.delete(id);
    this.#bytes -= cached.bytes;
  }

  #add(id: InstanceId, cached: Cached): void {
    this.#cached.set(id, cached);
    this.#bytes += cached.bytes;
  }

  #evict(): void {
    if (this.#bytes <= this.#most || this.#engine.stop.aborted || this.#evicting !== null) return;
    const [oldest] = this.#cached.values();
    const wait = oldest === undefined ? 0 : oldest.usedAt + this.#keptMs - performance.now();
    if (wait > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        this.#evict();
      }, wait).unref();
      return;
    }
    this.#evicting = this.#evictOldest()
      .catch((error: unknown) => this.#engine.log.warn({ error: messageOf(error) }, 'a cached copy was not removed'))
      .finally(() => {
        this.#evicting = null;
        this.#evict();
      });
  }

  async #evictOldest(): Promise<void> {
    const [id] = this.#cached.keys();
    if (id === undefined) return;
    const cached = this.#cached.get(id);
    this.drop(id);
    const { registry, runtimes } = this.#engine;
    const seen = await registry.instances.get(id);
    if (seen !== null && !isOwn(this.#engine, seen)) return this.#removeFormer(id);
    if (seen === null || !isCopyOfStored(seen)) return;
    const isThere = await this.#isInStore(seen).catch((error: unknown) => {
      // Nobody knows: it stays until somebody does.
      if (cached !== undefined) this.#add(id, { ...cached, usedAt: performance.now() + AWAY_MS });
      throw error;
    });
    await runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(() =>
        runtime.exclusive(async () => {
          const row = await registry.instances.get(id);
          const isSame = row !== null && row.generation === seen.generation && row.vfsPath === seen.vfsPath;
          if (!isSame || row.pending !== null || this.#cached.has(id)) return;
          if (!isThere) return (await this.#isNewest(row)) ? uploadAgain(this.#engine, row) : undefined;
          await fileOf(this.#engine, row).remove();
          this.#engine.failpoint('evict.removed');
        }),
      ),
    );
  }

  /** Another host took it from the store: what is here is older, and nobody's file. */
  async #removeFormer(id: InstanceId): Promise<void> {
    const { registry, runtimes, drawers } = this.#engine;
    await runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(() =>
        runtime.exclusive(async () => {
          const row = await registry.instances.get(id);
          if (row === null || isOwn(this.#engine, row) || this.#cached.has(id)) return;
          for (const drawer of [drawers.cold, drawers.archive]) await drawer.at(id).remove();
        }),
      ),
    );
  }

  /** Beside others a copy may be of before another host had the sandbox. */
  async #isNewest(row: InstanceRow): Promise<boolean> {
    if (this.#engine.host.isAlone) return true;
    const stamp = await stampAt(fileOf(this.#engine, row));
    return stamp !== null && row.file !== null && sameStamp(stamp, row.file);
  }

  async #isInStore({ stored }: InstanceRow): Promise<boolean> {
    const found = await this.#engine.store?.objects.head(objectNameOf(stored?.address ?? ''));
    return found != null && found.bytes === stored?.bytes;
  }
}

/** The row of a copy whose object is gone: it is the only one, in a drawer on disk, and is uploaded. */
async function uploadAgain(engine: Engine, row: InstanceRow): Promise<void> {
  const vfsPath = localAddressOf(engine, row.vfsPath);
  const line = ledgerEntry(engine, row, systemAudit('reconcile'), 'file.forgotten', {
    reason: `the store does not have ${row.stored?.address}: what is here is uploaded again`,
  });
  const after = await engine.registry.instances.commit({
    ...{ id: row.id, from: row.state, to: row.state, generation: row.generation },
    ...{ vfsPath, file: row.file, now: now(engine), ledger: [line] },
  });
  engine.store?.filed(after);
}

/** Whether what lies in the drawer of a row is a copy: the row names the object, and nothing is under way. */
function isCopyOfStored({ vfsPath, stored, pending, state }: InstanceRow): boolean {
  const isAtRest = state === 'frozen' || state === 'archived';
  return isAtRest && pending === null && stored !== null && vfsPath === stored.address;
}
