/**
 * The files of snapshots and blueprints in the object store: uploaded once for each tenant that has them, brought back
 * to their drawer by whoever asks for one that is not there, and removed from this disk when the cache is full. What is
 * to be uploaded is found in the registry's rows, so a restart loses nothing, and the store is never asked what it has.
 * Decides nothing about rows.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { COPY_KINDS, type CopyKind, copyPath } from '../base/copy-paths.ts';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { newToken } from '../registry/owner.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity } from '../registry/types.ts';
import { fileRecord, stampAt } from '../sandboxes/files/file-verification.ts';
import { ROW_SUFFIX } from '../sandboxes/store/row-document.ts';
import type { Drawer, Drawers, RestingFile } from '../storage/drawer.ts';
import { discard, stagingFor } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { copyDocument, MOST_COPY_ROWS } from './copy-document.ts';

/** Copies asked for at once. */
const PAGE = 20;
/** Pauses after a failure, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** How often the rows are asked for what no line of the ledger told of, in milliseconds. */
const LOOK_EVERY_MS = 60_000;
/** A copy that was brought or used stays so long, in milliseconds: whoever asked for it has begun with it by then. */
const KEPT_MS = 10_000;
/** Lines of the ledger after which there may be a copy to upload. */
const MADE = /^(?:snapshot|blueprint|moment)\./;

type CopyObjects = Pick<ObjectStore, 'upload' | 'download' | 'put' | 'head'>;

export interface StoredCopiesOptions {
  objects: CopyObjects;
  /** Where the copies of this disk are. */
  drawers: Pick<Drawers, CopyKind>;
  registry: Registry;
  host: Pick<HostIdentity, 'name' | 'isAlone'>;
  clock: Clock;
  log: Logger;
  /** Absolute. */
  dataFolder: string;
  /** Bytes that copies may take now: what is left of the cache for them. */
  room: () => number;
  /** How long one stays after its last use, in milliseconds; for tests. */
  keptMs?: number;
}

interface Near {
  kind: CopyKind;
  hash: string;
  bytes: number;
  /** Of `performance.now()`. */
  usedAt: number;
}

export class StoredCopies {
  readonly #parts: StoredCopiesOptions;
  readonly #ending = new AbortController();
  readonly #bringing = new Map<string, Promise<boolean>>();
  /** Those that are stored and on this disk too, least recently used first. */
  readonly #near = new Map<string, Near>();
  /** Removals under way: whoever asks for such a copy waits, and brings it. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Uses under way, which keep a file here. */
  readonly #users = new Map<string, number>();
  #round: Promise<void> = Promise.resolve();
  #wake: AbortController | null = null;
  #unsubscribe: (() => void) | null = null;

  constructor(parts: StoredCopiesOptions) {
    this.#parts = parts;
  }

  /** The drawers of copies, which bring what is not on this disk. */
  drawers(): Pick<Drawers, CopyKind> {
    return { snapshot: this.#drawerOf('snapshot'), blueprint: this.#drawerOf('blueprint') };
  }

  /** Bytes of the copies on this disk that are stored too. */
  get cachedBytes(): number {
    let bytes = 0;
    for (const near of this.#near.values()) bytes += near.bytes;
    return bytes;
  }

  /**
   * Brings every stored copy to this disk that is not there, and calls `brought` after each. For an installation that
   * is to do without a store. Returns what could not be brought, with the reason.
   */
  async bringHome(brought: () => void = () => undefined): Promise<{ name: string; why: string }[]> {
    const left: { name: string; why: string }[] = [];
    for await (const { name, kind, hash } of this.#awayFromHome()) {
      if (this.#ending.signal.aborted) break;
      await this.#bring(kind, hash).then(brought, (error: unknown) => void left.push({ name, why: messageOf(error) }));
    }
    return left;
  }

  /** How many stored copies are not on this disk. Looks for the file of each. */
  async countAway(): Promise<number> {
    const hashes = new Set<string>();
    for await (const { kind, hash } of this.#awayFromHome()) hashes.add(copyPath(kind, hash));
    return hashes.size;
  }

  async *#awayFromHome(): AsyncGenerator<{ name: string; kind: CopyKind; hash: string }> {
    const { registry, drawers } = this.#parts;
    for (let after = ''; ; ) {
      const names = await registry.storeNames.page(after, PAGE);
      if (names.length === 0) return;
      for (const { name, kind: ofKind, hash, state } of names) {
        const kind = COPY_KINDS.find((one) => one === ofKind);
        if (kind === undefined || hash === null || state !== 'current') continue;
        if ((await drawers[kind].at(hash).stat()) === null) yield { name, kind, hash };
      }
      after = names.at(-1)?.name ?? after;
    }
  }

  /** Uploads what is not stored yet, now and whenever a copy is made. Idempotent. */
  start(): void {
    if (this.#unsubscribe !== null) return;
    const { commitEvents } = this.#parts.registry;
    this.#unsubscribe = commitEvents.onLedgerAppend(({ lines }) => {
      if (lines.some(({ type }) => MADE.test(type))) this.#wake?.abort();
    });
    this.#round = this.#run();
  }

  /** Ends uploads under way: another start begins them anew. */
  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#ending.abort();
    this.#wake?.abort();
    await this.#round;
  }

  async #run(): Promise<void> {
    const { log } = this.#parts;
    await this.#findNear().catch((error: unknown) => log.warn({ error: messageOf(error) }, 'cached copies'));
    for (let failures = 0; !this.#ending.signal.aborted; ) {
      this.#wake = new AbortController();
      const failed = await this.#uploadDue().catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'copies are not stored yet');
        return true;
      });
      await this.#evict();
      failures = failed ? failures + 1 : 0;
      // A copy that was made meanwhile does not shorten the pause after a failure.
      const wait = failed ? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)) : LOOK_EVERY_MS;
      const signal = failed ? this.#ending.signal : AbortSignal.any([this.#ending.signal, this.#wake.signal]);
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Uploads all that is due. Returns whether something is to be tried again. */
  async #uploadDue(): Promise<boolean> {
    const { registry, log } = this.#parts;
    const failed = new Set<string>();
    while (!this.#ending.signal.aborted) {
      const due = await registry.storeNames.copiesToStore(PAGE, [...failed]);
      if (due.length === 0) break;
      for (const { kind, hash, tenant } of due) {
        if (this.#ending.signal.aborted) return false;
        if (await this.#isOnAnotherHost(kind, hash)) {
          failed.add(hash);
          continue;
        }
        try {
          await this.#upload(kind, hash, tenant);
        } catch (error) {
          if (this.#ending.signal.aborted) return false;
          log.warn({ error: messageOf(error), kind, hash }, 'a copy was not stored');
          failed.add(hash);
          // The store is away for the others too.
          if (isWinterdockError(error) && error.code === 'storage_unavailable') return true;
        }
      }
    }
    return failed.size > 0;
  }

  /** Beside others, a copy that is not here is on the disk of the host that made it. */
  async #isOnAnotherHost(kind: CopyKind, hash: string): Promise<boolean> {
    const { host, drawers } = this.#parts;
    return !host.isAlone && (await drawers[kind].at(hash).stat()) === null;
  }

  async #upload(kind: CopyKind, hash: string, tenant: string): Promise<void> {
    const { registry, objects, host, clock } = this.#parts;
    const { signal } = this.#ending;
    const name = `drawers/${kind}/${tenant}/${hash}-${newToken()}`;
    await registry.storeNames.begin({
      name,
      instance: null,
      tenant,
      kind,
      hash,
      host: host.name,
      begunMs: clock.now(),
    });
    let isDone = false;
    try {
      const rows = {
        snapshots: kind === 'snapshot' ? await registry.copies.snapshotsOf(hash, MOST_COPY_ROWS) : [],
        blueprints: kind === 'blueprint' ? await registry.copies.blueprintsOf(hash, MOST_COPY_ROWS) : [],
      };
      await this.#use(kind, hash, (file) => file.read((path) => objects.upload(name, path, { sha256: hash, signal })));
      await objects.put(name + ROW_SUFFIX, copyDocument({ kind, tenant, hash }, rows), { signal });
      isDone = await registry.storeNames.finishCopy(name);
    } finally {
      if (!isDone) await registry.storeNames.supersede([name], clock.now());
    }
    await this.#noteUse(kind, hash);
  }

  #drawerOf(kind: CopyKind): Drawer {
    const local = this.#parts.drawers[kind];
    const at = (hash: string): RestingFile => {
      const file = local.at(hash);
      return {
        ...file,
        stat: () => this.#use(kind, hash, () => file.stat()),
        read: (look) => this.#use(kind, hash, () => file.read(look)),
        takeOut: (part, target) => this.#use(kind, hash, () => file.takeOut(part, target)),
      };
    };
    return {
      ...local,
      at,
      fetch: (hash, target) => this.#use(kind, hash, () => local.fetch(hash, target)),
    };
  }

  /** Runs `work` on a copy that is here, or was brought; it is not evicted meanwhile. */
  async #use<T>(kind: CopyKind, hash: string, work: (file: RestingFile) => Promise<T>): Promise<T> {
    const path = copyPath(kind, hash);
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    try {
      const file = this.#parts.drawers[kind].at(hash);
      await this.#leaving.get(path);
      if ((await file.stat()) === null) await this.#bring(kind, hash);
      return await work(file);
    } finally {
      const users = (this.#users.get(path) ?? 1) - 1;
      if (users === 0) this.#users.delete(path);
      else this.#users.set(path, users);
      const near = this.#near.get(path);
      if (near !== undefined) this.#add({ ...near, usedAt: performance.now() });
    }
  }

  /** Brings a copy from the store, once for all who ask. False when no object of it is known. */
  #bring(kind: CopyKind, hash: string): Promise<boolean> {
    const path = copyPath(kind, hash);
    const known = this.#bringing.get(path);
    if (known !== undefined) return known;
    const brought = this.#fetch(kind, hash).finally(() => this.#bringing.delete(path));
    this.#bringing.set(path, brought);
    return brought;
  }

  async #fetch(kind: CopyKind, hash: string): Promise<boolean> {
    const { registry, objects, drawers, dataFolder } = this.#parts;
    const stored = await registry.storeNames.copyName(kind, hash);
    if (stored === null) return false;
    const folder = stagingFor(dataFolder, join(dataFolder, copyPath(kind, hash)));
    await makeFolder(folder);
    const staged = join(folder, newToken());
    try {
      await objects.download(stored.name, staged, { sha256: hash, signal: this.#ending.signal });
      await drawers[kind].put(staged, hash);
    } finally {
      await discard(staged);
    }
    const stamp = await stampAt(drawers[kind].at(hash));
    if (stamp === null) return false;
    await registry.copies.updateFileRecord(kind, hash, fileRecord(stamp, { sha256: hash, quickCheck: 'ok' }));
    this.#add({ kind, hash, bytes: stamp.size, usedAt: performance.now() });
    void this.#evict();
    return true;
  }

  /** Finds what an earlier process left. */
  async #findNear(): Promise<void> {
    for (const kind of COPY_KINDS) {
      for await (const hashes of this.#parts.drawers[kind].keyPages())
        for (const hash of hashes) {
          if (this.#ending.signal.aborted) return;
          await this.#noteUse(kind, hash, 0);
        }
    }
  }

  /** A copy on this disk that is stored may be evicted from now on. */
  async #noteUse(kind: CopyKind, hash: string, usedAt = performance.now()): Promise<void> {
    const { registry, drawers } = this.#parts;
    if ((await registry.storeNames.copyName(kind, hash)) === null) return;
    const stat = await drawers[kind].at(hash).stat();
    if (stat !== null) this.#add({ kind, hash, bytes: stat.size, usedAt });
  }

  #add(near: Near): void {
    const path = copyPath(near.kind, near.hash);
    this.#near.delete(path);
    this.#near.set(path, near);
  }

  /**
   * Whether the store has a copy, by its own answer. What it has forgotten is uploaded again: what is here is the only
   * one.
   */
  async #isInStore({ kind, hash, bytes }: Near): Promise<boolean> {
    const { registry, objects, clock, log } = this.#parts;
    const stored = await registry.storeNames.copyName(kind, hash);
    if (stored === null) return false;
    const found = await objects.head(stored.name, { signal: this.#ending.signal });
    if (found?.bytes === bytes) return true;
    log.warn({ kind, hash }, 'the store does not have a copy any more: what is here is uploaded again');
    await registry.storeNames.supersede([stored.name], clock.now());
    return false;
  }

  /** Removes the copies that were used longest ago, while they take more than there is room for. */
  async #evict(): Promise<void> {
    const { drawers, room, log, keptMs = KEPT_MS } = this.#parts;
    try {
      for (const [path, near] of this.#near) {
        const { kind, hash, usedAt } = near;
        if (this.cachedBytes <= room()) return;
        if (this.#users.has(path) || this.#bringing.has(path) || performance.now() - usedAt < keptMs) continue;
        if (!(await this.#isInStore(near))) {
          this.#near.delete(path);
          this.#wake?.abort();
          continue;
        }
        if (this.#users.has(path) || this.#near.get(path)?.usedAt !== usedAt) continue;
        this.#near.delete(path);
        const left = drawers[kind].at(hash).remove();
        this.#leaving.set(
          path,
          left.catch(() => undefined).finally(() => this.#leaving.delete(path)),
        );
        await left;
      }
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'a cached copy was not removed');
    }
  }
}
