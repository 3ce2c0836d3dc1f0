/**
 * The files of snapshots and blueprints: made outside the server's thread, kept once per content, removed with the last
 * row that needs them. Owns the order of file and row, so that a kill between any two steps leaves no file and loses
 * none; knows nothing of who may do what.
 *
 * A file is marked in the registry before it is put into its drawer. The transaction that adds its row takes the mark
 * off; the one that deletes the last row sets it again. Whatever is marked and needed by no row goes: at once, when the
 * last sandbox that was never resumed leaves it, or at the next start. A file without a mark that no row needs is
 * nobody's and set aside.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { COPY_KINDS, type CopyContent, type CopyKind, copyPath, parseCopyPath } from '../registry/copies.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerLine } from '../registry/types.ts';
import { moveLogsToOrphans, moveToOrphans } from '../sessions/file-locations.ts';
import { fileRecord, verifyForOpening } from '../sessions/file-verification.ts';
import { createCopyDrawers } from '../storage/disk.ts';
import type { Drawer } from '../storage/drawer.ts';
import { discard, stagingFor } from '../storage/files.ts';
import type { Readers, VfsCopy } from '../vfs/types.ts';

/** The steps of keeping and removing a file, in order, for fault injection. */
export const COPY_STEPS = [
  'copy.staged',
  'copy.marked',
  'copy.put',
  'copy.claimed',
  'copy.unclaimed',
  'copy.removed',
] as const;
export type CopyStep = (typeof COPY_STEPS)[number];

const REFUSED = {
  corrupt: 'it is not what was kept',
  missing_file: 'it is not in its drawer',
} as const;

/** Milliseconds until a file that could not be removed is tried again. */
const SWEEP_AGAIN_MS = 5000;

export interface CopiesOptions {
  config: Pick<Config, 'dataFolder'>;
  clock: Clock;
  log: Logger;
  registry: Registry;
  readers: Readers;
  /** Whether the registry is the one that was signed; default: yes. */
  registryIsWhole?: () => boolean;
  failpoint?: (step: CopyStep) => void;
}

export class Copies {
  readonly #parts: CopiesOptions;
  readonly #drawers: Record<CopyKind, Drawer>;
  /** Putting, claiming and removing exclude each other. */
  readonly #files = new Mutex();
  readonly #failpoint: (step: CopyStep) => void;
  #unsubscribe: (() => void) | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #again: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(parts: CopiesOptions) {
    this.#parts = parts;
    this.#drawers = createCopyDrawers(parts.config.dataFolder);
    this.#failpoint = parts.failpoint ?? (() => {});
  }

  /** Runs `work` with the path of a temporary file that is not there yet, and removes it whatever happens. */
  async #staged<T>(kind: CopyKind, work: (path: string) => Promise<T>): Promise<T> {
    const { dataFolder } = this.#parts.config;
    const folder = stagingFor(dataFolder, join(dataFolder, copyPath(kind, '')));
    await makeFolder(folder);
    const path = join(folder, randomUUID());
    try {
      return await work(path);
    } finally {
      await discard(path);
    }
  }

  /**
   * Keeps what `make` writes to the path that it is given, once per content; `claim` adds the row that needs it.
   * Rejects as they do; no file is then left that was not there.
   */
  keep<T>(
    kind: CopyKind,
    make: (path: string) => Promise<VfsCopy>,
    claim: (content: CopyContent) => Promise<T> | T,
  ): Promise<T> {
    return this.#staged(kind, async (staged) => {
      const copied = await make(staged);
      this.#failpoint('copy.staged');
      return this.#files.runExclusive(async () => {
        const path = copyPath(kind, copied.sha256);
        await this.#parts.registry.copies.markUnclaimed(path);
        this.#failpoint('copy.marked');
        try {
          const content = await this.#put(kind, staged, copied);
          this.#failpoint('copy.put');
          const claimed = await claim(content);
          this.#failpoint('copy.claimed');
          return claimed;
        } catch (error) {
          await this.#removeUnneeded(path).catch((left: unknown) => this.#sweepAgain(left));
          throw error;
        }
      });
    });
  }

  /**
   * Makes sure that the file of a copy is there and as it was made. `name` says whose it is. Throws `missing_file`,
   * `corrupt`.
   */
  async requireSound(kind: CopyKind, name: string, content: CopyContent): Promise<void> {
    const path = join(this.#parts.config.dataFolder, copyPath(kind, content.hash));
    try {
      await verifyForOpening(this.#parts, { id: name, file: content.file }, path, false);
    } catch (error) {
      // What helps a sandbox does not help a copy: it has no process to be resumed, and nothing else of its content.
      if (!isWinterdockError(error) || (error.code !== 'corrupt' && error.code !== 'missing_file')) throw error;
      throw new WinterdockError(error.code, `The file of the ${kind} "${name}" was refused: ${REFUSED[error.code]}.`, {
        hint: `Use another ${kind}; sandboxes that came from this one keep what they have.`,
        cause: error,
      });
    }
  }

  /**
   * Removes every marked file that no row needs. What was committed stays so whether or not a file goes now: one that
   * cannot is tried again after a while, and at the next start.
   */
  sweep(): Promise<void> {
    this.#sweeping = this.#sweeping
      .then(async () => {
        for (const path of await this.#parts.registry.copies.unclaimedFiles()) {
          await this.#files.runExclusive(() => this.#removeUnneeded(path));
        }
      })
      .catch((error: unknown) => this.#sweepAgain(error));
    return this.#sweeping;
  }

  #sweepAgain(error: unknown): void {
    this.#parts.log.warn({ err: error }, 'the file of a copy was not removed yet');
    if (this.#stopped) return;
    this.#again ??= setTimeout(() => {
      this.#again = null;
      void this.sweep();
    }, SWEEP_AGAIN_MS).unref();
  }

  /**
   * Finishes what a killed server left, then watches for sandboxes that leave the file they were made from. Idempotent.
   */
  async start(): Promise<void> {
    if (this.#unsubscribe !== null) return;
    this.#unsubscribe = this.#parts.registry.commitEvents.onLedgerAppend((lines) => this.#watch(lines));
    await this.sweep();
    void this.#setAsideOthers().catch((error) => this.#parts.log.error({ error: messageOf(error) }, 'orphan search'));
  }

  /** Waits for removals under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    if (this.#again !== null) clearTimeout(this.#again);
    await this.#sweeping;
    await this.#files.waitForUnlock();
  }

  async #put(kind: CopyKind, staged: string, copied: VfsCopy): Promise<CopyContent> {
    const drawer = this.#drawers[kind];
    const hash = copied.sha256;
    await moveLogsToOrphans(this.#parts, { id: hash.slice(0, 63), tenant: '' }, drawer.pathOf(hash));
    if (drawer.stamp(hash) !== null && !(await this.#isWhole(drawer, hash))) await drawer.remove(hash);
    if (drawer.stamp(hash) === null) await drawer.put(staged, hash);
    const stamp = drawer.stamp(hash);
    if (stamp === null)
      throw new WinterdockError('storage_unavailable', 'The drawer lost a copy that was just put there.');
    return {
      hash,
      bytes: copied.bytes,
      volumes: copied.volumes,
      file: fileRecord(stamp, { sha256: hash, quickCheck: 'ok' }),
    };
  }

  /** Whether the file that is there already has the bytes of its name; one that rotted is replaced. */
  async #isWhole(drawer: Drawer, hash: string): Promise<boolean> {
    const path = drawer.open(hash);
    return path !== null && (await this.#parts.readers.check(path, { urgent: true })).sha256 === hash;
  }

  async #removeUnneeded(path: string): Promise<void> {
    const { copies } = this.#parts.registry;
    const copy = parseCopyPath(path);
    // The mark of something that is landing.
    if (copy === null || (await copies.isNeeded(path))) return;
    this.#failpoint('copy.unclaimed');
    await this.#drawers[copy.kind].remove(copy.hash);
    this.#failpoint('copy.removed');
    await copies.clearUnclaimed(path);
  }

  /** A sandbox that leaves `created` may have been the last that needed a file. */
  #watch(lines: readonly LedgerLine[]): void {
    if (this.#stopped || !lines.some(({ type, from }) => type === 'transition' && from === 'created')) return;
    void this.sweep();
  }

  async #setAsideOthers(): Promise<void> {
    const { registry, registryIsWhole = () => true } = this.#parts;
    // A newer registry may name what this one does not know.
    if (!registryIsWhole()) return;
    for (const kind of COPY_KINDS) {
      for await (const key of this.#drawers[kind].keys()) {
        if (this.#stopped) return;
        await this.#files.runExclusive(async () => {
          const path = this.#drawers[kind].pathOf(key);
          if (await registry.copies.isNeeded(path)) return;
          await moveToOrphans(this.#parts, { id: key.slice(0, 63), tenant: '' }, path);
        });
      }
    }
  }
}
