/**
 * The roots of a machine: read-only folders `<name>@<version>`, whose version is the hash of what they hold. One is
 * built in a folder of its own and gets its name when it is whole and on disk. It is not removed while somebody uses
 * it. Knows nothing of jails.
 */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  chmodFileNow,
  createFileNow,
  makeFolder,
  makeNewFolder,
  removeTree,
  renameFile,
  syncFolder,
  unlinkFileNow,
  writeFile,
} from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import { processStat, STAT } from '../../base/process-stat.ts';
import { differences, listRoot } from './root-listing.ts';

const IS_NAME = /^[a-z0-9][a-z0-9-]{0,30}$/;
const IS_ROOT = /^([a-z0-9][a-z0-9-]{0,30})@([0-9a-f]{64})$/;
/** A folder that is being built or removed, and the process that does it: its id and when it began. */
const IS_UNFINISHED = /^\.(?:building|removing)-(\d+)\.(\d+)-/;
const IS_LEASE = /^(\d+)\.(\d+)-/;
/** Others pass and read: a guest is another user. */
const READ_BY_ALL = 0o755;
const MOST_NAMES = 10;

/** What a folder of a root has beside its file system. */
const FILES = 'rootfs';
const LISTING = 'listing';
const ABOUT = 'root.json';
const LEASES = 'leases';

export interface RootInfo {
  /** `<name>@<version>`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** Of its file system: absolute. */
  readonly folder: string;
  /** Of the contents of its files. */
  readonly bytes: number;
  readonly entries: number;
  /** Epoch milliseconds. */
  readonly builtAt: number;
  /** How many use it. */
  readonly leases: number;
}

export class Roots {
  readonly #folder: string;

  /** `folder`: absolute; made at the first build. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All that are whole, by name and then by age, the newest first. */
  list(): RootInfo[] {
    const found = this.#names().flatMap((id) => this.#read(id) ?? []);
    return found.toSorted((one, other) => one.name.localeCompare(other.name) || other.builtAt - one.builtAt);
  }

  /** The one of an id, or the newest of a name. Throws `not_found`. */
  get(idOrName: string): RootInfo {
    const found = this.list().find(({ id, name }) => id === idOrName || name === idOrName);
    if (found !== undefined) return found;
    throw new WinterdockError('not_found', `There is no root ${idOrName} below ${this.#folder}.`, {
      hint: 'Build it with `winterdock root build`, or list those that are there.',
    });
  }

  /**
   * Builds a root with what `fill` puts into an empty folder. The same contents are the same root: it is there once.
   * Whatever fails, nothing of it is left but what a kill leaves, which the next build removes.
   */
  async build(name: string, fill: (folder: string) => Promise<void>, now: number): Promise<RootInfo> {
    if (!IS_NAME.test(name)) throw new WinterdockError('validation', `A root cannot be named ${JSON.stringify(name)}.`);
    await makeFolder(this.#folder);
    chmodFileNow(this.#folder, READ_BY_ALL);
    await this.sweep();
    const staging = join(this.#folder, `.building-${ownMark()}-${name}`);
    await makeNewFolder(staging);
    try {
      const files = join(staging, FILES);
      await makeNewFolder(files);
      await fill(files);
      for (const folder of [staging, files]) chmodFileNow(folder, READ_BY_ALL);
      const { lines, sha256, bytes } = await listRoot(files);
      await writeFile(join(staging, LISTING), lines.join('\n'));
      await writeFile(join(staging, ABOUT), JSON.stringify({ name, bytes, entries: lines.length, builtAt: now }));
      await makeNewFolder(join(staging, LEASES));
      await syncAll(staging);
      const id = `${name}@${sha256}`;
      const same = this.#read(id);
      if (same !== null) {
        await removeTree(staging);
        return same;
      }
      await renameFile(staging, join(this.#folder, id));
      await syncFolder(this.#folder);
      return this.get(id);
    } catch (error) {
      await removeTree(staging);
      throw error;
    }
  }

  /** The names of what is not as it was built, at most ten; none when all is. Throws `not_found`. */
  async verify(idOrName: string): Promise<string[]> {
    const { id, version, folder } = this.get(idOrName);
    const { lines, sha256 } = await listRoot(folder);
    if (sha256 === version) return [];
    const changed = differences(readFileSync(join(this.#folder, id, LISTING), 'utf8').split('\n'), lines, MOST_NAMES);
    return changed.length > 0 ? changed : ['.'];
  }

  /**
   * Keeps a root from being removed, until the lease is given back or its process has ended. `user`: who uses it, in
   * the form of an id. Throws `not_found`.
   */
  lease(idOrName: string, user: string): { root: RootInfo; release: () => void } {
    const root = this.get(idOrName);
    const path = join(this.#folder, root.id, LEASES, `${ownMark()}-${user}`);
    try {
      createFileNow(path);
    } catch (error) {
      // It is being removed: its folder has another name.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new WinterdockError('not_found', `The root ${root.id} is being removed.`, { cause: error });
    }
    return { root, release: () => unlinkFileNow(path) };
  }

  /** Removes a root. Throws `conflict` while it is used, and `not_found`. Only an id names one here. */
  async remove(id: string): Promise<RootInfo> {
    if (!IS_ROOT.test(id))
      throw new WinterdockError('not_found', `${id} is no id of a root.`, { hint: 'Name it whole, with its version.' });
    const root = this.get(id);
    const removed = join(this.#folder, `.removing-${ownMark()}-${root.id}`);
    // From here on nobody takes a lease; those that were taken are seen.
    await renameFile(join(this.#folder, root.id), removed);
    const leases = leasesIn(join(removed, LEASES));
    if (leases.length > 0) {
      await renameFile(removed, join(this.#folder, root.id));
      throw new WinterdockError('conflict', `The root ${root.id} is used: ${leases.join(', ')}.`, {
        hint: 'Suspend the sandboxes that use it first.',
      });
    }
    await syncFolder(this.#folder);
    await removeTree(removed);
    return root;
  }

  /** Removes what builds and removals of processes that are gone have left; a root that is used gets its name back. */
  async sweep(): Promise<void> {
    for (const name of entriesOf(this.#folder)) {
      const [mark, pid = '', startedAt = ''] = IS_UNFINISHED.exec(name) ?? [];
      if (mark === undefined || isThere(pid, startedAt)) continue;
      const id = name.slice(mark.length);
      const isUsed = mark.startsWith('.removing') && leasesIn(join(this.#folder, name, LEASES)).length > 0;
      if (isUsed && IS_ROOT.test(id)) await renameFile(join(this.#folder, name), join(this.#folder, id));
      else await removeTree(join(this.#folder, name));
    }
  }

  #names(): string[] {
    return entriesOf(this.#folder).filter((name) => IS_ROOT.test(name));
  }

  #read(id: string): RootInfo | null {
    const [, name = '', version = ''] = IS_ROOT.exec(id) ?? [];
    try {
      const about = JSON.parse(readFileSync(join(this.#folder, id, ABOUT), 'utf8')) as Record<string, unknown>;
      const [bytes, entries, builtAt] = [Number(about.bytes), Number(about.entries), Number(about.builtAt)];
      const leases = leasesIn(join(this.#folder, id, LEASES)).length;
      return { id, name, version, folder: join(this.#folder, id, FILES), bytes, entries, builtAt, leases };
    } catch {
      return null;
    }
  }
}

/** Whose leases are in force. */
function leasesIn(folder: string): string[] {
  return entriesOf(folder).filter((name) => {
    const [, pid = '', startedAt = ''] = IS_LEASE.exec(name) ?? [];
    return isThere(pid, startedAt);
  });
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** This process: its id, and when it began. */
function ownMark(): string {
  return `${process.pid}.${processStat(process.pid)?.[STAT.startedAt] ?? '0'}`;
}

function isThere(pid: string, startedAt: string): boolean {
  return processStat(Number(pid))?.[STAT.startedAt] === startedAt;
}

/** Puts everything below a folder on disk, with one call for its file system. */
async function syncAll(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['-f', folder]);
}
