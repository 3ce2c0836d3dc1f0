/**
 * The files of snapshots and blueprints: content-addressed, stored once per content, removed with the last row that
 * needs them. Owns the order of file and row, so that a kill between any two steps neither leaks nor loses a file.
 * Knows nothing of rights.
 *
 * A file is marked as unclaimed in the registry before it is put into its drawer. The transaction that adds its row
 * removes the mark; the transaction that deletes the last row sets it again. A marked file that no row needs is
 * removed: at once, when the last sandbox that was never resumed leaves it, or at the next start. An unmarked file that
 * no row needs is an orphan and is set aside.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { COPY_KINDS, type CopyKind, copyPath, parseCopyPath } from '../base/copy-paths.ts';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { instanceIdOfFile } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { CopyContent } from '../registry/copies.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity, LedgerLine } from '../registry/types.ts';
import { moveLogsToOrphans, moveToOrphans } from '../sandboxes/files/file-locations.ts';
import { fileRecord, notStoredYet, stampAt, verifyForOpening } from '../sandboxes/files/file-verification.ts';
import type { Drawers, RestingFile } from '../storage/drawer.ts';
import { discard, stagingFor } from '../storage/files.ts';
import type { ReadAnswer, Readers, ReadRequest, VfsCopy } from '../vfs/types.ts';

/** The failpoints of storing and removing a file, in order. */
export const COPY_STEPS = [
  'copy.staged',
  'copy.marked',
  'copy.put',
  'copy.claimed',
  'copy.unclaimed',
  'copy.removed',
] as const;
export type CopyStep = (typeof COPY_STEPS)[number];

const REFUSAL_REASONS = {
  corrupt: 'it was changed or damaged',
  missing_file: 'it is not in its drawer',
} as const;

/** Milliseconds until a failed removal is retried. */
const SWEEP_AGAIN_MS = 5000;

export interface CopiesOptions {
  config: Pick<Config, 'dataFolder' | 'maxSandboxBytes'>;
  clock: Clock;
  log: Logger;
  registry: Registry;
  host: Pick<HostIdentity, 'isAlone'>;
  readers: Readers;
  drawers: Pick<Drawers, CopyKind>;
  /** Whether the registry is the newest that was signed; default: yes. */
  registryIsWhole?: () => boolean;
  failpoint?: (step: CopyStep) => void;
}

export class Copies {
  readonly #parts: CopiesOptions;
  /** Putting, claiming and removing exclude each other. */
  readonly #files = new Mutex();
  readonly #failpoint: (step: CopyStep) => void;
  #unsubscribe: (() => void) | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #again: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(parts: CopiesOptions) {
    this.#parts = parts;
    this.#failpoint = parts.failpoint ?? (() => {});
  }

  /** Runs `work` with the path of a new temporary file, and removes that file whatever happens. */
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
   * Stores the file that `make` writes to the given path, once per content; `claim` adds the row that needs it. Rejects
   * as they do, and then leaves no new file.
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
   * Throws `missing_file` or `corrupt` unless the file of a copy is present and unchanged. `name` is for the message.
   */
  async requireIntact(kind: CopyKind, name: string, content: CopyContent): Promise<void> {
    const file = this.#parts.drawers[kind].at(content.hash);
    try {
      await verifyForOpening(this.#parts, { id: instanceIdOfFile(name), file: content.file }, file, false);
    } catch (error) {
      // The hints for a sandbox do not apply: a copy cannot be resumed or repaired.
      if (!isWinterdockError(error) || (error.code !== 'corrupt' && error.code !== 'missing_file')) throw error;
      if (error.code === 'missing_file' && !this.#parts.host.isAlone) throw notStoredYet(`the ${kind} "${name}"`);
      throw new WinterdockError(
        error.code,
        `The file of the ${kind} "${name}" was refused: ${REFUSAL_REASONS[error.code]}.`,
        {
          hint: `Use another ${kind}; sandboxes that came from this one keep what they have.`,
          cause: error,
        },
      );
    }
  }

  /** Answers one read of the file of a copy. Throws `missing_file`, `corrupt`. */
  read<R extends ReadRequest>(
    kind: CopyKind,
    hash: string,
    request: R,
    tenant: string,
  ): Promise<Extract<ReadAnswer, { op: R['op'] }>> {
    const { drawers, readers } = this.#parts;
    return drawers[kind].at(hash).read((path) => readers.read({ path, mode: 'rest' }, request, tenant));
  }

  /**
   * Removes every marked file that no row needs. A failed removal is retried later and at the next start; what was
   * committed does not depend on it.
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
   * Finishes what a killed server left, then sweeps whenever a sandbox no longer needs its copy. Idempotent.
   */
  async start(): Promise<void> {
    if (this.#unsubscribe !== null) return;
    this.#unsubscribe = this.#parts.registry.commitEvents.onLedgerAppend(({ lines }) => this.#watch(lines));
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
    const drawer = this.#parts.drawers[kind];
    const hash = copied.sha256;
    const file = drawer.at(hash);
    await moveLogsToOrphans(this.#parts, { id: instanceIdOfFile(hash.slice(0, 63)), tenant: '' }, file);
    if ((await file.stat()) !== null && !(await this.#isWhole(file, hash))) await file.remove();
    if ((await file.stat()) === null) await drawer.put(staged, hash);
    const stamp = await stampAt(file);
    if (stamp === null)
      throw new WinterdockError('storage_unavailable', 'The drawer lost a copy that was just put there.');
    return {
      hash,
      bytes: copied.bytes,
      volumes: copied.volumes,
      file: fileRecord(stamp, { sha256: hash, quickCheck: 'ok' }),
    };
  }

  /** Whether the existing file still has the hash that is its name. A damaged one is replaced. */
  async #isWhole(file: RestingFile, hash: string): Promise<boolean> {
    const { sha256 } = await file.read((path) => this.#parts.readers.check(path, { urgent: true }));
    return sha256 === hash;
  }

  async #removeUnneeded(path: string): Promise<void> {
    const { host, registry, drawers } = this.#parts;
    const { copies } = registry;
    const copy = parseCopyPath(path);
    // The mark belongs to an import that is still under way.
    if (copy === null || (await copies.isNeeded(path))) return;
    const file = drawers[copy.kind].at(copy.hash);
    // One whose file is not here may be landing on another host, or to be removed there.
    if (!host.isAlone && (await file.stat()) === null) return;
    this.#failpoint('copy.unclaimed');
    await registry.storeNames.supersedeCopy(copy.kind, copy.hash, this.#parts.clock.now());
    await file.remove();
    this.#failpoint('copy.removed');
    await copies.clearUnclaimed(path);
  }

  /** A sandbox that leaves `created`, or goes with its named moments, may have been the last to need a file. */
  #watch(lines: readonly LedgerLine[]): void {
    const mayLeave = ({ from, to }: LedgerLine) => from === 'created' || to === 'deleted';
    if (this.#stopped || !lines.some(mayLeave)) return;
    void this.sweep();
  }

  async #setAsideOthers(): Promise<void> {
    const { registry, registryIsWhole = () => true } = this.#parts;
    // A newer registry may name what this one does not know.
    if (!registryIsWhole()) return;
    for (const kind of COPY_KINDS) {
      const drawer = this.#parts.drawers[kind];
      for await (const keys of drawer.keyPages()) {
        for (const key of keys) {
          if (this.#stopped) return;
          await this.#files.runExclusive(async () => {
            const file = drawer.at(key);
            if (await registry.copies.isNeeded(file.address)) return;
            await moveToOrphans(this.#parts, { id: instanceIdOfFile(key.slice(0, 63)), tenant: '' }, file);
          });
        }
      }
    }
  }
}
