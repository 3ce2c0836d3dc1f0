/**
 * A sandbox's file, mounted: the server's side of the thread that answers the kernel. Whoever uses the mount in this
 * process must do so with asynchronous calls: a thread that waits for its own process waits for ever.
 */
import { randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import { deserializeError, type SerializedError } from '../../base/serialized-error.ts';
import { closeDevice, mountDevice, unmountFolder } from './device.ts';

interface MountedFileOptions {
  file: string;
  /** An empty folder. In it are the three volumes by their names. */
  folder: string;
  /** What the file may hold at rest, in bytes. */
  maxBytes: number;
  /** False: it is made when it is not there. Default: it has to be there. */
  mustExist?: boolean;
  /** Whose all files are. */
  owner: { uid: number; gid: number };
}

export interface FuseThreadData {
  device: number;
  file: string;
  maxBytes: number;
  mustExist: boolean;
  owner: { uid: number; gid: number };
  commitName: string;
  /** The first is 1 while there is something to commit. */
  flags: Int32Array<SharedArrayBuffer>;
}

export type FromFuseThread =
  | { kind: 'serving' }
  | { kind: 'closed'; identity: string | null }
  | { kind: 'failed'; failure: SerializedError };

/** How often what guests wrote is made durable when nobody asks for it. */
const COMMIT_MS = 1000;
/** A process that has just ended may still be let go by the kernel. */
const UNMOUNT_ATTEMPTS = 4;
const UNMOUNT_PAUSE_MS = 25;
/** The error of a look-up that has committed: handler.ts has its number. */
const COMMITTED_CODE = 'EALREADY';

/**
 * Opens a file and mounts it. Resolves when requests are answered. Throws what the file does, and when it cannot be
 * mounted here; then nothing is mounted.
 */
export async function mountNativeFile(options: MountedFileOptions): Promise<MountedFile> {
  const { file, folder, maxBytes, mustExist = true, owner } = options;
  const device = mountDevice({ folder, owner, forOthers: process.getuid?.() === 0 });
  const commitName = randomBytes(16).toString('hex');
  const flags = new Int32Array(new SharedArrayBuffer(4));
  const workerData: FuseThreadData = { device, file, maxBytes, mustExist, owner, commitName, flags };
  const worker = new Worker(threadFile(), { workerData });
  const mounted = new MountedFile({ folder, device, worker, commitName, flags });
  try {
    await mounted.serving;
    return mounted;
  } catch (error) {
    await mounted.abort();
    throw error;
  }
}

/** Named in full, so that a package has it. */
const SOURCE = new URL('./fuse-thread.ts', import.meta.url);

/** The thread's file: beside the process's own in a bundle, else the source. */
function threadFile(): string | URL {
  const own = process.argv[1] ?? '';
  return own.endsWith('.cjs') ? join(own, '..', 'fuse-thread.cjs') : SOURCE;
}

interface MountedFileParts {
  folder: string;
  device: number;
  worker: Worker;
  commitName: string;
  flags: Int32Array<SharedArrayBuffer>;
}

export class MountedFile {
  readonly #parts: MountedFileParts;
  readonly #timer: NodeJS.Timeout;
  /** Resolves when the first request is answered. */
  readonly serving: Promise<void>;
  /** Resolves with null when the file is at rest, else with why it is not. */
  readonly ended: Promise<string | null>;
  /** The mark of the file, by which it is known, once it is at rest; null for one without. */
  identity: string | null = null;
  #committing: Promise<void> | null = null;

  constructor(parts: MountedFileParts) {
    this.#parts = parts;
    const { promise: serving, resolve: isServing, reject: failed } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<string | null>();
    this.serving = serving;
    this.ended = ended;
    let outcome: Error | null = new WinterdockError('internal', 'The file is not served: its thread ended.');
    parts.worker.on('message', (message: FromFuseThread) => {
      if (message.kind === 'serving') return isServing();
      outcome = message.kind === 'closed' ? null : deserializeError(message.failure);
      if (message.kind === 'closed') this.identity = message.identity;
    });
    parts.worker.once('error', (error) => {
      outcome = error;
    });
    parts.worker.once('exit', () => {
      clearInterval(this.#timer);
      // Nobody answers any more: what still waits must not wait for ever.
      closeDevice(parts.device);
      failed(outcome ?? new WinterdockError('internal', 'The file is not served: it is at rest.'));
      end(outcome === null ? null : messageOf(outcome));
    });
    this.serving.catch(() => undefined);
    this.#timer = setInterval(() => this.#commitChanges(), COMMIT_MS);
    this.#timer.unref();
  }

  /**
   * Resolves when everything that a write or a change of names has returned for is on disk. Throws
   * `storage_unavailable` when it is not.
   */
  async commit(): Promise<void> {
    const code = await lstat(join(this.#parts.folder, this.#parts.commitName)).then(
      () => 'there',
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (code === COMMITTED_CODE) return;
    throw new WinterdockError('storage_unavailable', `What was written is not on disk (${code}).`, {
      hint: 'The sandbox goes on with what was committed before.',
    });
  }

  /**
   * Unmounts and puts the file to rest. False while a process still uses the mount: nothing was changed then. Throws
   * when the file could not be put to rest; it is then as a killed process leaves one.
   */
  async close(): Promise<boolean> {
    for (let attempt = 1; attempt <= UNMOUNT_ATTEMPTS; attempt += 1) {
      // A commit under way uses the mount as well.
      await this.#committing;
      if (await unmountFolder(this.#parts.folder, { lazy: false })) {
        await this.#atRest();
        return true;
      }
      await setTimeout(attempt * UNMOUNT_PAUSE_MS);
    }
    return false;
  }

  /** The same, whoever uses the mount: every request from then on fails. */
  async abort(): Promise<void> {
    await unmountFolder(this.#parts.folder, { lazy: true });
    await this.ended;
  }

  async #atRest(): Promise<void> {
    const outcome = await this.ended;
    if (outcome !== null) throw new WinterdockError('storage_unavailable', `The file is not at rest: ${outcome}`);
  }

  #commitChanges(): void {
    if (this.#committing !== null || Atomics.load(this.#parts.flags, 0) === 0) return;
    // A commit that fails is told to who asks for the next one: from then on every request of the mount fails.
    this.#committing = this.commit()
      .catch(() => undefined)
      .finally(() => {
        this.#committing = null;
      });
  }
}
