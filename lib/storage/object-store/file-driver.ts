/**
 * The driver of `file://`: a folder on this machine, or on a share that is mounted here. An object is a file; it gets
 * its name when it is whole and on disk. Anybody may have changed what lies there: links, pipes and sockets are
 * refused, never followed and never waited for. A folder that is another one than at the start is *away*: its disk is
 * gone.
 */
import { randomUUID } from 'node:crypto';
import { type BigIntStats, type Dirent, statSync } from 'node:fs';
import { lstat, opendir, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  copyFile,
  linkFileNow,
  makeFolder,
  makeNewFolder,
  removeFolder,
  renameFile,
  setTimesNow,
  syncFile,
  syncFolder,
  unlinkFile,
  writeFile,
  writeStream,
} from '../../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { leadsNowhere } from '../../base/is-there.ts';
import { lookAtNow, openRegular } from '../../base/strangers-file.ts';
import { discard, isCode } from '../files.ts';
import { inFolder } from './folder-errors.ts';
import { isObjectName, MARKER_NAME } from './object-names.ts';
import type { ListedObject, ObjectRange, ObjectStat, PutOptions } from './object-store.ts';
import { type OpenedObject, PieceSource, type StoreDriver, type WriteTask } from './store-driver.ts';
import { behindTheEnd, noSuchObject, objectTaken, objectTooLarge, storeAway } from './store-errors.ts';
import { UnfinishedObjects, unfinishedOf } from './unfinished-objects.ts';

/** Names per page of a list. */
const PAGE = 1000;
/** Unfinished objects, on the filesystem of the finished ones. No name begins with a dot. */
const STAGING = '.staging';
/** A folder may be removed, as empty, between its making and its use. */
const TRIES = 5;

const statOfFile = (stat: BigIntStats): ObjectStat => ({
  bytes: Number(stat.size),
  etag: `${stat.ino}-${stat.size}-${stat.mtimeNs}`,
  at: Number(stat.mtimeMs),
});

const inTheWay = (name: string, cause?: unknown) =>
  new WinterdockError('corrupt', `A link, a folder, a pipe or a socket lies where the object "${name}" should be.`, {
    cause,
  });

/**
 * Opens the folder (absolute) as a store. `makes`: makes it where only its last part is missing. Throws
 * `storage_unavailable`.
 */
export async function openFileDriver(folder: string, { makes }: { makes: boolean }): Promise<StoreDriver> {
  return inFolder(async () => {
    if (makes) await makeNewFolder(folder).catch(unlessThere);
    await syncFolder(dirname(folder)).catch((error) => {
      // A folder that is mounted by itself may lie in one that is closed to this user.
      if (!isCode(error, 'EACCES')) throw error;
    });
    const root = await realpath(folder);
    const driver = new FileDriver(root, statSync(root, { bigint: true }));
    await driver.tidy();
    return driver;
  }, true);
}

class FileDriver implements StoreDriver {
  readonly #root: string;
  #stat: BigIntStats;
  readonly #unfinished: UnfinishedObjects;

  constructor(root: string, stat: BigIntStats) {
    this.#root = root;
    this.#stat = stat;
    this.#unfinished = new UnfinishedObjects(join(root, STAGING));
  }

  async put(name: string, bytes: Uint8Array, { ifAbsent = false, signal }: PutOptions): Promise<ObjectStat> {
    return this.#told(async () => {
      signal?.throwIfAborted();
      await this.#land(name, ifAbsent, (unfinished) => writeFile(unfinished, bytes, { flag: 'wx' }));
      return this.#statNow(name);
    });
  }

  async get(name: string, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#told(async () => {
      signal?.throwIfAborted();
      const handle = await this.#opened(name);
      try {
        if ((await handle.stat()).size > most) throw objectTooLarge(name, most);
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    });
  }

  async open(name: string, range: ObjectRange | undefined, signal?: AbortSignal): Promise<OpenedObject> {
    return this.#told(async () => {
      signal?.throwIfAborted();
      const handle = await this.#opened(name);
      try {
        const stat = statOfFile(await handle.stat({ bigint: true }));
        if (range !== undefined && range.first >= stat.bytes) throw behindTheEnd(name);
        const [start, end] = [range?.first ?? 0, Math.min(range?.last ?? stat.bytes, stat.bytes - 1)];
        // A stream that is made with a signal of the past fails before anybody can listen: that ends the process.
        signal?.throwIfAborted();
        // Node refuses a stream that ends before it starts.
        const limits = stat.bytes === 0 ? {} : { start, end };
        const stream = handle.createReadStream({ ...limits, ...(signal && { signal }), highWaterMark: 256 * 1024 });
        return { stream, stat, sha256: null };
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  async write(name: string, { pieces, accept, timeMs, signal }: WriteTask): Promise<void> {
    const source = new PieceSource(pieces);
    try {
      await this.#told(async () => {
        await this.#land(name, false, async (unfinished) => {
          await pipeline(source.pieces(), writeStream(unfinished, { flags: 'wx' }), signal ? { signal } : {});
          accept();
          if (timeMs !== undefined) setTimesNow(unfinished, timeMs / 1000);
        });
      });
    } catch (error) {
      throw signal?.aborted ? signal.reason : (source.failure ?? error);
    }
  }

  async head(name: string): Promise<ObjectStat | null> {
    return this.#told(async () => {
      this.#requireRoot();
      const path = this.#pathOf(name);
      const stat = lookAtNow(path);
      if (stat === null) return null;
      if (!stat.isFile() || !(await this.#isBelow(path))) throw inTheWay(name);
      return statOfFile(stat);
    });
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    await this.requireThere();
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    let page: ListedObject[] = [];
    for await (const name of this.#names(folder, prefix)) {
      signal?.throwIfAborted();
      // Removed meanwhile, or a stranger's.
      const stat = await lstat(this.#pathOf(name), { bigint: true }).catch(() => null);
      if (!stat?.isFile()) continue;
      page.push({ name, ...statOfFile(stat) });
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  async remove(name: string): Promise<void> {
    await this.#told(async () => {
      this.#requireRoot();
      const path = this.#pathOf(name);
      const stat = lookAtNow(path);
      if (stat === null) return;
      if (!stat.isFile() || !(await this.#isBelow(path))) throw inTheWay(name);
      await unlinkFile(path);
      await syncFolder(dirname(path)).catch(unlessGone);
      await this.#removeEmpty(dirname(path));
    });
  }

  async purge(name: string): Promise<{ remainsUntil: null }> {
    await this.remove(name);
    await this.#told(async () => {
      const staging = join(this.#root, STAGING);
      if (!lookAtNow(staging)?.isDirectory()) return;
      const left = (await readdir(staging)).filter((one) => one.startsWith(unfinishedOf(name)));
      for (const one of left) await unlinkFile(join(staging, one));
    });
    return { remainsUntil: null };
  }

  async copy(from: string, to: string, signal?: AbortSignal): Promise<ObjectStat> {
    return this.#told(async () => {
      signal?.throwIfAborted();
      const handle = await this.#opened(from);
      try {
        // By its descriptor, where the system has names for those: another file may be at the path by now.
        const opened = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : this.#pathOf(from);
        await this.#land(to, false, (unfinished) => copyFile(opened, unfinished));
      } finally {
        await handle.close();
      }
      return this.#statNow(to);
    });
  }

  async rules(): Promise<{ versioning: 'off'; lockDays: number; expiry: readonly string[] }> {
    return { versioning: 'off', lockDays: 0, expiry: [] };
  }

  /** Two processes cannot compare and replace a file in one step. */
  async putIfMatch(): Promise<null> {
    return null;
  }

  async putIfAbsent(name: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.put(name, bytes, { ifAbsent: true });
      return true;
    } catch (error) {
      if (isWinterdockError(error) && error.code === 'conflict') return false;
      throw error;
    }
  }

  /** Removes what killed processes left, at most once a day. */
  tidy(): Promise<void> {
    return this.#unfinished.tidy();
  }

  requireThere(): Promise<void> {
    return this.#told(async () => this.#requireRoot());
  }

  close(): void {}

  /** Runs work on the folder: where something is missing because the folder is, that is what it throws. */
  #told<T>(work: () => Promise<T>): Promise<T> {
    return inFolder(async () => {
      try {
        return await work();
      } catch (error) {
        if (leadsNowhere(error)) this.#requireRoot();
        throw error;
      }
    });
  }

  #pathOf(name: string): string {
    return join(this.#root, name);
  }

  /** Throws when the folder is not the one that was opened: its disk was taken away, or its share. */
  #requireRoot(): void {
    const stat = lookAtNow(this.#root);
    if (stat?.dev === this.#stat.dev && stat.ino === this.#stat.ino) return;
    // A disk that was mounted again may have another number: its marker is on it.
    if (!stat?.isDirectory() || !lookAtNow(join(this.#root, MARKER_NAME))?.isFile()) throw storeAway('no_bucket');
    this.#stat = stat;
  }

  /** False when a link leads to the path; its last part aside. */
  async #isBelow(path: string): Promise<boolean> {
    return (await realpath(dirname(path))) === dirname(path);
  }

  async #opened(name: string) {
    this.#requireRoot();
    const path = this.#pathOf(name);
    try {
      const handle = await openRegular(path, false);
      if (await this.#isBelow(path)) return handle;
      await handle.close();
    } catch (error) {
      if (isWinterdockError(error)) throw inTheWay(name, error);
      // ELOOP is a link, which openRegular has reported.
      if (leadsNowhere(error)) throw noSuchObject(name, error);
      throw error;
    }
    throw inTheWay(name);
  }

  async #statNow(name: string): Promise<ObjectStat> {
    const stat = await this.head(name);
    if (stat === null) throw noSuchObject(name);
    return stat;
  }

  /** Runs `write` on an unfinished file, has it on disk, and gives it its name. */
  async #land(name: string, isNew: boolean, write: (unfinished: string) => Promise<void>): Promise<void> {
    this.#requireRoot();
    const staging = join(this.#root, STAGING);
    await this.tidy();
    await makeFolder(staging);
    const unfinished = join(staging, `${unfinishedOf(name)}${randomUUID()}`);
    try {
      await write(unfinished);
      await syncFile(unfinished);
      await this.#giveName(unfinished, name, isNew);
    } catch (error) {
      await discard(unfinished);
      throw error;
    }
    if (isNew) await discard(unfinished);
  }

  async #giveName(unfinished: string, name: string, isNew: boolean): Promise<void> {
    const path = this.#pathOf(name);
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#makeFolders(name);
        if (!(await this.#isBelow(path))) throw inTheWay(name);
        if (isNew) linkFileNow(unfinished, path);
        else await renameFile(unfinished, path);
        // Folders that were made for it too.
        for (let at = dirname(path); ; at = dirname(at)) {
          await syncFolder(at);
          if (at === this.#root) return;
        }
      } catch (error) {
        if (isCode(error, 'EEXIST') && lookAtNow(path) !== null) throw objectTaken(name, error);
        if (['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'ELOOP'].some((code) => isCode(error, code))) {
          throw inTheWay(name, error);
        }
        if (!isCode(error, 'ENOENT') || tries === TRIES || lookAtNow(unfinished) === null) throw error;
        this.#requireRoot();
      }
    }
  }

  /** Makes the folders of a name, one in the other: through a link nothing is made. */
  async #makeFolders(name: string): Promise<void> {
    const parts = name.split('/').slice(0, -1);
    for (const at of parts.keys()) {
      const folder = join(this.#root, ...parts.slice(0, at + 1));
      const stat = lookAtNow(folder);
      if (stat === null) await makeNewFolder(folder).catch(unlessThere);
      else if (!stat.isDirectory()) throw inTheWay(name);
    }
  }

  /** Removes a folder that is empty, and those above it. */
  async #removeEmpty(folder: string): Promise<void> {
    for (let at = folder; at !== this.#root; at = dirname(at)) {
      try {
        await removeFolder(at);
      } catch {
        // It has other objects, or is gone: either way there is nothing to do, and an empty folder does no harm.
        return;
      }
    }
  }

  /** The names below a folder of the store (`''`, or with a slash at its end) that begin with `prefix`. */
  async *#names(folder: string, prefix: string): AsyncGenerator<string> {
    const path = join(this.#root, folder);
    for await (const entry of this.#entries(path)) {
      const name = `${folder}${entry.name}`;
      if (!isObjectName(name)) continue;
      if (entry.isFile() && name.startsWith(prefix)) yield name;
      const below = `${name}/`;
      if (entry.isDirectory() && (below.startsWith(prefix) || prefix.startsWith(below)))
        yield* this.#names(below, prefix);
    }
  }

  /** What is in a folder; nothing where there is none, or a link leads to it. */
  async *#entries(path: string): AsyncGenerator<Dirent> {
    const opened = await this.#told(async () => {
      try {
        return (await realpath(path)) === resolve(path) ? await opendir(path, { bufferSize: PAGE }) : null;
      } catch (error) {
        if (leadsNowhere(error)) return null;
        throw error;
      }
    });
    if (opened !== null) yield* opened;
  }
}

function unlessThere(error: unknown): void {
  if (!isCode(error, 'EEXIST')) throw error;
}

function unlessGone(error: unknown): void {
  if (!isCode(error, 'ENOENT')) throw error;
}
