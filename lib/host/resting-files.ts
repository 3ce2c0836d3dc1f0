/**
 * Ships files at rest that the replica has not: those from before there was a replica, and those that were made or
 * replaced while their sandbox slept. One at a time, from a copy, behind everything else.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isCloudAddress } from '../base/cloud-address.ts';
import type { Config } from '../base/config.ts';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { ReplicateClass } from '../replication/promise/replicate-class.ts';
import type { Replicator } from '../replication/replicator.ts';
import { restsAsItsOwn } from '../replication/resting-replicas.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { discard } from '../storage/files.ts';
import { expand } from '../storage/zstd.ts';

const PAGE = 200;
/** After how many milliseconds what could not be shipped is tried again: doubled each time, up to the longest. */
const AGAIN_MS = 1000;
const LONGEST_AGAIN_MS = 60_000;

export interface RestingFilesParts {
  config: Pick<Config, 'dataFolder'>;
  registry: Pick<Registry, 'instances'>;
  /** The name of this host: what is on the disk of another one is shipped by that. */
  host: string;
  log: Logger;
  files: Replicator;
  classOf: (row: InstanceRow) => ReplicateClass;
  sandboxes: () => Pick<Sandboxes, 'copyRaw'>;
}

export class RestingFiles {
  readonly #parts: RestingFilesParts;
  readonly #ending = new AbortController();
  #working: Promise<void> | null = null;
  #isAgain = false;
  #timer: NodeJS.Timeout | null = null;
  #againMs = AGAIN_MS;
  /** What could not be shipped when that was last tried. */
  readonly #left = new Set<InstanceId>();

  constructor(parts: RestingFilesParts) {
    this.#parts = parts;
  }

  /** Looks through all rows once; afterwards at what the replicator says. */
  start(): void {
    this.#parts.files.onStale(() => this.#run());
    this.#parts.files.onWanted((row) => this.#ship(row));
    // A killed server leaves what it was copying.
    this.#working = discard(join(this.#parts.config.dataFolder, 'replica', 'resting'))
      .then(() => this.#all())
      .catch((error: unknown) => this.#parts.log.warn({ error: messageOf(error) }, 'files at rest were not looked at'))
      .then(() => {
        this.#working = null;
        this.#run();
      });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#working;
  }

  async #all(): Promise<void> {
    const { registry, files } = this.#parts;
    for (let after = ''; !this.#ending.signal.aborted; ) {
      const rows = await registry.instances.withFile(after, PAGE);
      for (const row of rows) {
        if (this.#ending.signal.aborted) return;
        if (!files.hasFileOf(row)) await this.#ship(row);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.id;
    }
  }

  #run(): void {
    this.#isAgain = true;
    if (this.#working !== null || this.#ending.signal.aborted) return;
    this.#working = this.#stale()
      .catch((error: unknown) => this.#parts.log.warn({ error: messageOf(error) }, 'files at rest were not looked at'))
      .then(() => {
        this.#working = null;
        if (this.#isAgain) this.#run();
      });
  }

  async #stale(): Promise<void> {
    this.#isAgain = false;
    const { files, registry } = this.#parts;
    for (const id of new Set([...files.stale, ...this.#left])) {
      if (this.#ending.signal.aborted) return;
      this.#left.delete(id);
      const row = await registry.instances.get(id);
      if (row !== null && !files.hasFileOf(row)) await this.#ship(row);
    }
    if (files.stale.size + this.#left.size === 0) this.#againMs = AGAIN_MS;
    else this.#runLater();
  }

  #runLater(): void {
    if (this.#timer !== null || this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, this.#againMs).unref();
    this.#againMs = Math.min(this.#againMs * 2, LONGEST_AGAIN_MS);
  }

  async #ship(row: InstanceRow): Promise<void> {
    const { config, host, files, classOf, sandboxes, log } = this.#parts;
    if (row.ownerHost !== null && row.ownerHost !== host) return;
    // What is in the store below the drawers is elsewhere already.
    if (!restsAsItsOwn(row) || row.fault !== null || row.file === null || isCloudAddress(row.vfsPath)) return;
    if (classOf(row).kind === 'off') return;
    if (!files.hasRoomFor(row.file.size)) return void this.#left.add(row.id);
    const folder = join(config.dataFolder, 'replica', 'resting', randomUUID());
    try {
      await makeFolder(folder);
      const copy = await sandboxes().copyRaw(row.id, folder);
      if (copy.log !== null) return void this.#left.add(row.id);
      const whole = copy.packed ? join(folder, 'whole.sqlite') : copy.file;
      if (copy.packed) await expand(copy.file, whole, row.id);
      await files.shipWhole(copy.row, whole);
    } catch (error) {
      this.#left.add(row.id);
      const isLater = isWinterdockError(error) && (error.code === 'conflict' || error.code === 'unverified');
      if (!isLater) log.warn({ id: row.id, error: messageOf(error) }, 'a file at rest was not shipped');
    } finally {
      await discard(folder);
    }
    // Whoever wakes a sandbox comes first.
    await pause(10, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined);
  }
}
