/**
 * One sandbox of real programs, open: its file is mounted, a jail runs its programs on the mount, and whatever is
 * answered was committed before. The mount is taken away when nothing of the jail is left, and only then is the file
 * put to rest. Knows the messages, not the channel.
 */
import { join } from 'node:path';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { serializeError } from '../../base/serialized-error.ts';
import { answerRead } from '../../vfs/answer.ts';
import { openBeside } from '../../vfs/open.ts';
import type { ReadRequest, VfsAddress } from '../../vfs/types.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import type { WriteOperation } from '../../workers/protocol/instance.ts';
import type { NativeStart } from '../../workers/protocol/native-start.ts';
import type { ExecCall, FromInstance } from '../../workers/protocol/protocol.ts';
import type { StopSignal } from '../../workers/protocol/stop-signals.ts';
import { type MountedFile, mountNativeFile } from '../fuse/mounted-file.ts';
import { Jail } from '../jail/jail.ts';
import { JailGroups } from '../jail/jail-groups.ts';
import { writeToMount } from './mount-writes.ts';
import { NativeCall } from './native-calls.ts';
import type { NativePlace } from './native-start.ts';

/** How often it is looked whether something runs in the background, while something does, in milliseconds. */
const LOOK_MS = 500;
/** Of an idle jail: its first process, and the one that waits for it outside. */
const OWN_PROCESSES = 2;
const SHARED_MEMORY_SHARE = 0.25;
/** A close waits for what is in flight: the jail is gone by then. */
const UNMOUNT_ATTEMPTS = 5;

export interface NativeFileSpec {
  file: string;
  maxBytes: number;
  maxFileBytes: number;
  mustExist: boolean;
}

export class NativeSandbox {
  readonly #place: NativePlace;
  readonly #start: NativeStart;
  readonly #spec: NativeFileSpec;
  readonly #send: (message: FromInstance) => void;
  readonly #mounted: MountedFile;
  readonly #calls = new Map<number, NativeCall>();
  #jail: Promise<Jail>;
  /** Changes of the API, one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  #isFrozen = false;
  #isHolding = false;
  #lastCallAt = performance.now();
  #looks: NodeJS.Timeout | null = null;
  readonly #broken = Promise.withResolvers<string>();

  private constructor(
    mounted: MountedFile,
    parts: { place: NativePlace; start: NativeStart; spec: NativeFileSpec; send: (message: FromInstance) => void },
  ) {
    this.#mounted = mounted;
    this.#place = parts.place;
    this.#start = parts.start;
    this.#spec = parts.spec;
    this.#send = parts.send;
    this.#jail = this.#openJail();
    this.#jail.catch(() => {});
  }

  /** Mounts the file and builds the jail. Throws what the file does, and `capacity` without a jail; nothing is left. */
  static async open(
    place: NativePlace,
    start: NativeStart,
    spec: NativeFileSpec,
    send: (message: FromInstance) => void,
  ): Promise<NativeSandbox> {
    const { file, maxBytes, mustExist } = spec;
    const mounted = await mountNativeFile({ file, folder: place.mountFolder, maxBytes, mustExist, owner: start.user });
    const sandbox = new NativeSandbox(mounted, { place, start, spec, send });
    try {
      await sandbox.#jail;
      return sandbox;
    } catch (error) {
      await mounted.close();
      throw error;
    }
  }

  /** Resolves with the reason once nothing more can be committed: whatever is asked from then on would fail. */
  get failed(): Promise<string> {
    void this.#mounted.ended.then((outcome) => outcome !== null && this.#broken.resolve(outcome));
    return this.#broken.promise;
  }

  /** Runs a script, and sends its result once everything that it wrote is on disk. */
  async exec(id: number, call: ExecCall): Promise<void> {
    const running = new NativeCall(call, {
      run: async (command) => (await this.#jailNow()).run(command),
      send: (chunks) => this.#send({ type: 'output', id, chunks }),
    });
    this.#calls.set(id, running);
    try {
      const result = await running.run();
      await this.#mounted.commit();
      this.#send({ type: 'executed', id, result });
    } catch (error) {
      this.#send({ type: 'failed', id, failure: serializeError(await this.#explained(error), 'The call failed.') });
      this.#noteFailure(error);
    } finally {
      this.#calls.delete(id);
      this.#lastCallAt = performance.now();
      await this.#look();
    }
  }

  stop(id: number, signal?: StopSignal): void {
    const call = this.#calls.get(id);
    call?.stop(signal);
    // Whatever its programs make of the signal, they have the time for it.
    if (call !== undefined && signal !== undefined) this.#send({ type: 'trapped', id });
  }

  /** Changes files, and sends the outcome once it is on disk. */
  write(id: number, operation: WriteOperation): Promise<void> {
    const { mountFolder: mount } = this.#place;
    const versionOf = async ({ volume, path }: VfsAddress) => {
      await this.#mounted.commit();
      return this.#beside((vfs) => vfs.stat(path, volume)?.version ?? null);
    };
    const context = { mount, versionOf, owner: this.#start.user, maxFileBytes: this.#spec.maxFileBytes };
    const written = this.#writing.then(async () => {
      const result = await writeToMount(context, operation);
      await this.#mounted.commit();
      this.#send({ type: 'done', id, result });
    });
    this.#writing = written.catch((error) => this.#noteFailure(error));
    return written;
  }

  /** Answers with what was committed last, as readers beside it do. */
  async read(id: number, request: ReadRequest): Promise<void> {
    await this.#mounted.commit();
    this.#send({ type: 'done', id, result: this.#beside((vfs) => answerRead(vfs, request)) });
  }

  /** Stops all programs, so that none waits for this process while it is stopped; what holds it, null when nothing. */
  async freeze(): Promise<string | null> {
    await this.#look();
    if (this.#calls.size > 0) return 'a call';
    if (this.#isHolding) return 'programs in the background';
    this.#isFrozen = true;
    try {
      await (await this.#jail.catch(() => null))?.freeze();
    } catch {
      await this.thaw();
      return 'programs that do not stop';
    }
    await this.#mounted.commit();
    return null;
  }

  /** Lets them go on. Call it before anything is done. */
  async thaw(): Promise<void> {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    await (await this.#jail.catch(() => null))?.thaw();
  }

  /** Ends all programs, takes the mount away and puts the file to rest. Returns its mark. */
  async close(): Promise<string | null> {
    if (this.#looks !== null) clearInterval(this.#looks);
    await this.#writing;
    await (await this.#jail.catch(() => null))?.close();
    for (let attempt = 1; attempt <= UNMOUNT_ATTEMPTS; attempt += 1)
      if (await this.#mounted.close()) return this.#mounted.identity;
    throw new WinterdockError('conflict', 'The file of the sandbox could not be put to rest: its mount is in use.', {
      retryAfterSeconds: 1,
    });
  }

  #beside<T>(look: (vfs: Vfs) => T): T {
    const vfs = openBeside(this.#spec.file);
    try {
      return look(vfs);
    } finally {
      vfs.close();
    }
  }

  #noteFailure(error: unknown): void {
    if (isWinterdockError(error) && error.code === 'storage_unavailable') this.#broken.resolve(error.message);
  }

  #openJail(): Promise<Jail> {
    const { mountFolder, groups, limits } = this.#place;
    const at = (volume: string) => join(mountFolder, volume);
    const { id, root, user } = this.#start;
    const sharedMemoryBytes = Math.floor(limits.memoryBytes * SHARED_MEMORY_SHARE);
    const folders = { workspace: at('workspace'), memory: at('memory'), tmp: at('tmp') };
    return Jail.open({ id, root, folders, user, sharedMemoryBytes }, JailGroups.at(groups), limits);
  }

  /** The jail; a new one when it has ended by itself, as one does whose first process was ended for want of memory. */
  async #jailNow(): Promise<Jail> {
    const jail = await this.#jail.catch(() => null);
    if (jail?.isOpen) return jail;
    await jail?.ended;
    if ((await this.#jail.catch(() => null)) === jail) {
      this.#jail = this.#openJail();
      this.#jail.catch(() => {});
    }
    return this.#jail;
  }

  /** The reason why a call has no result, as its caller learns it. */
  async #explained(error: unknown): Promise<unknown> {
    if (!isWinterdockError(error) || error.code !== 'conflict') return error;
    const { outOfMemory = 0 } = (await this.#jail.catch(() => null)) ?? {};
    const why =
      outOfMemory > 0 ? 'Its programs took more memory than they may have.' : 'All of its programs have ended.';
    return new WinterdockError('conflict', `The call did not end by itself. ${why}`, {
      hint: 'What was answered before is kept; the next call begins anew.',
      extra: { cause: outOfMemory > 0 ? 'memory' : 'crash', started: true },
      cause: error,
    });
  }

  /** Tells the server when something runs in the background, and when nothing does or its time is over. */
  async #look(): Promise<void> {
    const jail = await this.#jail.catch(() => null);
    const runs = jail?.isOpen === true && jail.processes.length > OWN_PROCESSES;
    const isHolding = runs && performance.now() - this.#lastCallAt < this.#place.holdMs;
    if (isHolding !== this.#isHolding && (this.#calls.size === 0 || !isHolding)) {
      this.#isHolding = isHolding;
      this.#send({ type: 'holding', isHeld: isHolding });
    }
    if (!this.#isHolding && this.#looks !== null) {
      clearInterval(this.#looks);
      this.#looks = null;
    } else if (this.#isHolding) this.#looks ??= setInterval(() => void this.#look(), LOOK_MS);
  }
}
