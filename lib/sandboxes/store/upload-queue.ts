/**
 * Uploads of what rests in a drawer on disk. The queue is the rows themselves: filed, and not in the store. In memory
 * is only what is to be uploaded next, filled from an index; a restart loses nothing, and a start asks no store.
 *
 * An upload takes no lock: the name is recorded, the object is sent and hashed, what lies beside it is written, and one
 * compare-and-set on the row's generation and path says that it is whole. A verb on the sandbox ends it; its name is
 * superseded then, as after any failure, and the next attempt has another one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { cloudAddress, isCloudAddress, objectNameOf } from '../../base/cloud-address.ts';
import { isMachineFailure, isWinterdockError, messageOf, WinterdockError } from '../../base/errors.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import type { InstanceId } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import { newToken } from '../../registry/owner.ts';
import type { InstanceRow, StoredObject } from '../../registry/types.ts';
import { sameStamp } from '../../storage/stamp.ts';
import { RetryDelays } from '../admission/retry-delays.ts';
import { type Engine, elapsedMs, now, type StoreBelow, serverStopping, systemAudit } from '../engine.ts';
import { fileOf } from '../files/file-locations.ts';
import { stampAt } from '../files/file-verification.ts';
import { listingPath } from '../files/listing.ts';
import { LISTING_SUFFIX, ROW_SUFFIX, rowDocument } from './row-document.ts';
import { movedOn, uploadKindOf } from './upload-kind.ts';

/** Uploads at the same time: more are no quicker over one line, and each hashes. */
const AT_ONCE = 2;
/** Sandboxes of one tenant that are remembered to be next; what is beyond is found again. */
const MOST_OF_TENANT = 1000;
const PAGE = 500;
/** How often the rows are asked what is due, in milliseconds. */
const LOOK_EVERY_MS = 10_000;
/** Pauses after the store was away, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const MOST_DOUBLINGS = 10;
/** The longest that somebody waits while no upload makes progress, in milliseconds. */
const PATIENCE_MS = 5000;
const LOOK_AT_PROGRESS_MS = 200;
const RETRY_SECONDS = 5;

/** `queued`: filed, and not in the store yet. */
export type UploadState = 'none' | 'queued' | 'running';

interface Running {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

interface Waiter {
  readonly generation: number;
  readonly resolve: (row: InstanceRow) => void;
  readonly reject: (error: unknown) => void;
}

export class UploadQueue {
  readonly #engine: Engine;
  readonly #store: Pick<StoreBelow, 'objects' | 'used'>;
  readonly #queue = new FairQueue<InstanceId>();
  readonly #queued = new Map<InstanceId, string>();
  readonly #ofTenant = new Map<string, number>();
  readonly #running = new Map<InstanceId, Running>();
  readonly #waiters = new Map<InstanceId, Set<Waiter>>();
  readonly #delays = new RetryDelays();
  #failures = 0;
  #pausedUntil = 0;
  #progressAt = 0;
  #isStarted = false;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #resuming: NodeJS.Timeout | null = null;

  constructor(engine: Engine, store: Pick<StoreBelow, 'objects' | 'used'>) {
    this.#engine = engine;
    this.#store = store;
  }

  /** How many run. */
  get running(): number {
    return this.#running.size;
  }

  /** Whether the upload of a row waits or runs. */
  stateOf(row: Pick<InstanceRow, 'id' | 'state' | 'vfsPath'>): UploadState {
    if (this.#running.has(row.id)) return 'running';
    return uploadKindOf(this.#engine, row) === null ? 'none' : 'queued';
  }

  /** Supersedes what an earlier process had begun, and begins to upload. `uploads`: false: it begins nothing. */
  async start(uploads = true): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = uploads;
    const { registry, host, clock } = this.#engine;
    const begun = await registry.storeNames.begunUploads(host.name);
    await registry.storeNames.supersede(
      begun.map(({ name }) => name),
      clock.now(),
    );
    if (!uploads) return;
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Ends every upload; their names are superseded. The engine's stop was signalled. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#resuming !== null) clearTimeout(this.#resuming);
    this.#isStarted = false;
    for (const id of [...this.#waiters.keys()]) this.#refuse(id, serverStopping());
    for (const { ending } of this.#running.values()) ending.abort();
    await Promise.allSettled([this.#looking, ...[...this.#running.values()].map(({ done }) => done)]);
  }

  /** Queues the upload of a row that was filed. */
  add(row: InstanceRow): void {
    if (this.#enqueue(row)) this.#begin();
  }

  /** Ends the upload of a sandbox that moves on. */
  abort(id: InstanceId): void {
    this.#unqueue(id);
    this.#running.get(id)?.ending.abort();
    if (this.#waiters.has(id)) this.#refuse(id, movedOn(id));
  }

  /**
   * Resolves with the row once its file is whole in the store; at once when there is nothing to upload. Throws
   * `storage_unavailable` when no upload made progress for five seconds, `conflict` when a verb began on the sandbox,
   * and what is wrong with its file. The upload goes on all the same.
   */
  async whenStored(row: InstanceRow): Promise<InstanceRow> {
    if (uploadKindOf(this.#engine, row) === null) return row;
    const since = performance.now();
    const stored = new Promise<InstanceRow>((resolve, reject) => {
      const waiters = this.#waiters.get(row.id) ?? new Set();
      waiters.add({ generation: row.generation, resolve, reject });
      this.#waiters.set(row.id, waiters);
    });
    const late = new AbortController();
    this.#pausedUntil = 0;
    this.#delays.clear(row.id);
    this.#enqueue(row, true);
    this.#begin();
    try {
      return await Promise.race([stored, this.#noProgress(row.id, since, late.signal)]);
    } finally {
      late.abort();
      stored.catch(() => undefined);
    }
  }

  async #noProgress(id: InstanceId, since: number, signal: AbortSignal): Promise<never> {
    for (;;) {
      await pause(LOOK_AT_PROGRESS_MS, undefined, { signal, ref: false });
      if (performance.now() - Math.max(since, this.#progressAt) < PATIENCE_MS) continue;
      throw new WinterdockError('storage_unavailable', `The file of "${id}" is not in the store yet.`, {
        hint: 'It is filed on this machine and will be uploaded. The same request again waits for that.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  }

  #enqueue(row: InstanceRow, first = false): boolean {
    const { id, tenant } = row;
    if (!this.#isStarted || this.#engine.stop.aborted || this.#running.has(id)) return false;
    if (uploadKindOf(this.#engine, row) === null || row.pending !== null || row.fault !== null) return false;
    if (this.#delays.isWaiting(id, now(this.#engine))) return false;
    if (this.#queued.has(id)) {
      if (!first) return false;
      this.#unqueue(id);
    }
    const ofTenant = this.#ofTenant.get(tenant) ?? 0;
    if (ofTenant >= MOST_OF_TENANT && !first) return false;
    this.#queue.add(tenant, id, { again: first });
    this.#queued.set(id, tenant);
    this.#ofTenant.set(tenant, ofTenant + 1);
    return true;
  }

  #unqueue(id: InstanceId): void {
    if (!this.#queued.has(id)) return;
    this.#queue.remove(id);
    this.#forget(id);
  }

  #forget(id: InstanceId): void {
    const tenant = this.#queued.get(id);
    if (tenant === undefined) return;
    this.#queued.delete(id);
    const left = (this.#ofTenant.get(tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenant, left);
    else this.#ofTenant.delete(tenant);
  }

  /** Asks the rows what is due, tenant by tenant. */
  #look(): void {
    this.#looking ??= this.#fill()
      .catch((error: unknown) => this.#engine.log.warn({ error: messageOf(error) }, 'no uploads were looked for'))
      .finally(() => {
        this.#looking = null;
        this.#begin();
      });
  }

  async #fill(): Promise<void> {
    const { instances } = this.#engine.registry;
    for (let after = { tenant: '', id: '' }; !this.#engine.stop.aborted; ) {
      const rows = await instances.uploadsDue(after, PAGE);
      for (const row of rows) this.#enqueue(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      const isFull = (this.#ofTenant.get(last.tenant) ?? 0) >= MOST_OF_TENANT;
      after = { tenant: last.tenant, id: isFull ? '\u{10ffff}' : last.id };
    }
  }

  #begin(): void {
    if (!this.#isStarted || this.#engine.stop.aborted) return;
    const wait = this.#pausedUntil - performance.now();
    if (wait > 0) {
      this.#resuming ??= setTimeout(() => {
        this.#resuming = null;
        this.#begin();
      }, wait).unref();
      return;
    }
    // While the store was away one attempt finds out whether it is back.
    const atOnce = this.#failures > 0 ? 1 : AT_ONCE;
    while (this.#running.size < atOnce) {
      const id = this.#queue.take();
      if (id === undefined) return;
      this.#forget(id);
      const ending = new AbortController();
      const done = this.#upload(id, ending.signal).then((again) => {
        this.#running.delete(id);
        if (again !== null) this.#enqueue(again);
        this.#begin();
      });
      this.#running.set(id, { ending, done });
    }
  }

  /** One attempt. Returns the row if it is to be tried again. Never rejects. */
  async #upload(id: InstanceId, ended: AbortSignal): Promise<InstanceRow | null> {
    const { registry, clock, log } = this.#engine;
    const names: string[] = [];
    let row: InstanceRow | null = null;
    try {
      row = await registry.instances.get(id);
      if (row === null || row.pending !== null || row.file === null || row.fault !== null) return null;
      if (uploadKindOf(this.#engine, row) === null) {
        // It was stored, or moved on, between the read of who waits for it and now.
        if (isCloudAddress(row.vfsPath)) this.#tell(row);
        else this.#refuse(id, movedOn(id));
        return null;
      }
      if (this.#failures > 0) await this.#store.objects.head(objectNameOf(this.#addressOf(row)), { signal: ended });
      const after = await this.#storeFile(row, AbortSignal.any([ended, this.#engine.stop]), names);
      this.#failures = 0;
      if (after === null) return null;
      this.#progressAt = performance.now();
      this.#delays.clear(id);
      this.#tell(after);
      return null;
    } catch (error) {
      if (ended.aborted || this.#engine.stop.aborted) return null;
      log.warn({ id, error: messageOf(error) }, 'an upload failed');
      return this.#failed(id, row, error) ? row : null;
    } finally {
      await registry.storeNames
        .supersede(names, clock.now())
        .catch((error: unknown) => log.warn({ id, error: messageOf(error) }, 'a name was not superseded yet'));
    }
  }

  #addressOf(row: InstanceRow): string {
    const kind = uploadKindOf(this.#engine, row) ?? 'cold';
    return cloudAddress({ kind, id: row.id, generation: row.generation, token: newToken() });
  }

  /**
   * Stores the file of a row under a new name, which is in `names` until the row names it. Null when the row has moved
   * on, or its file is not as it was filed.
   */
  async #storeFile(row: InstanceRow, signal: AbortSignal, names: string[]): Promise<InstanceRow | null> {
    const { registry, clock, host, failpoint } = this.#engine;
    const { objects } = this.#store;
    const kind = uploadKindOf(this.#engine, row);
    if (kind === null || row.file === null || row.vfsPath === null) return null;
    const started = performance.now();
    const filed = row.file;
    const file = fileOf(this.#engine, row);
    const isAsFiled = async () => {
      const stamp = await stampAt(file);
      return stamp !== null && sameStamp(stamp, filed);
    };
    // Without a hash nothing but its stat says that these bytes were filed.
    if (filed.sha256 === null && !(await isAsFiled())) return this.#hurry(row);
    const address = this.#addressOf(row);
    const name = objectNameOf(address);
    const { id, tenant, generation } = row;
    signal.throwIfAborted();
    await registry.storeNames.begin({ name, instance: id, tenant, kind, host: host.name, begunMs: clock.now() });
    names.push(name);
    failpoint('upload.begun');
    const sent = await file.read((path) =>
      objects.upload(name, path, {
        packed: file.packed,
        signal,
        ...(filed.sha256 !== null && { sha256: filed.sha256 }),
        progress: () => {
          this.#progressAt = performance.now();
        },
      }),
    );
    if (filed.sha256 === null && !(await isAsFiled())) return this.#hurry(row);
    failpoint('upload.sent');
    const sha256 = sent.expandedSha256 ?? sent.sha256;
    const stored: StoredObject = { address, generation, sha256, bytes: sent.bytes, at: now(this.#engine) };
    await this.#describe(row, stored, name, signal);
    failpoint('upload.described');
    signal.throwIfAborted();
    const audit = systemAudit('idle');
    const after = await registry.instances.recordStored({
      id,
      generation,
      vfsPath: row.vfsPath,
      host: host.name,
      stored,
      nowMs: clock.now(),
      ledger: [
        ledgerEntry(this.#engine, row, audit, 'file.stored', {
          source: 'cloud',
          tookMs: elapsedMs(started),
          reason: `${sent.bytes} bytes as ${name}`,
        }),
      ],
    });
    if (after === null) return null;
    names.pop();
    failpoint('upload.committed');
    this.#store.used(after);
    return after;
  }

  /** The bytes cannot be vouched for yet, or any more: a check of the file says which. */
  #hurry({ id, generation }: InstanceRow): null {
    this.#engine.scheduleCheck(id, generation);
    this.#delays.delay(id, now(this.#engine));
    return null;
  }

  /** Writes what lies beside an object: what the row says, and of an archived one what is in it. */
  async #describe(row: InstanceRow, stored: StoredObject, name: string, signal: AbortSignal): Promise<void> {
    const { objects } = this.#store;
    if (row.state === 'archived') {
      try {
        await objects.upload(name + LISTING_SUFFIX, listingPath(this.#engine, row.id), { signal });
      } catch (error) {
        // A damaged file was archived without one, by force.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
    }
    await objects.put(name + ROW_SUFFIX, rowDocument(row, stored), { signal });
  }

  /** Whether it is to be tried again. */
  #failed(id: InstanceId, row: InstanceRow | null, error: unknown): boolean {
    const code = isWinterdockError(error) ? error.code : null;
    if (code === 'corrupt' || code === 'missing_file') {
      // The file is not the one that was filed: its check, or its next use, says so.
      if (row !== null) this.#hurry(row);
      this.#refuse(id, error);
      return false;
    }
    if (!isMachineFailure(error)) {
      this.#delays.delay(id, now(this.#engine));
      return false;
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, MOST_DOUBLINGS));
    this.#pausedUntil = performance.now() + pauseMs;
    this.#failures += 1;
    return true;
  }

  #tell(row: InstanceRow): void {
    const waiters = this.#waiters.get(row.id);
    if (waiters === undefined) return;
    this.#waiters.delete(row.id);
    for (const waiter of waiters) waiter.resolve(row);
  }

  #refuse(id: InstanceId, error: unknown): void {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return;
    this.#waiters.delete(id);
    for (const waiter of waiters) waiter.reject(error);
  }
}
