/**
 * Paths of a sandbox in its mount, for the server's side: a guest may change any name on the way at any moment, so each
 * is opened in the folder before it, and a link is followed by its text, within the volumes. Nothing that it leads to
 * outside of them is ever opened. Every call is asynchronous: the mount is served by a thread of this process.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { WinterdockError } from '../../base/errors.ts';
import { VOLUMES, type Volume } from '../../vfs/volumes.ts';

const MOST_LINKS = 40;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A name in an open folder; the name is null for the folder itself. */
export interface MountPlace {
  readonly folder: FileHandle;
  readonly name: string | null;
}

/** The path by which the kernel knows an entry of an open folder, whatever has become of the folder's own name. */
export function pathOfPlace({ folder, name }: MountPlace): string {
  return name === null ? `/proc/self/fd/${folder.fd}/.` : `/proc/self/fd/${folder.fd}/${name}`;
}

export function openFolder(path: string): Promise<FileHandle> {
  return open(path, FOLDER_FLAGS);
}

/**
 * Runs `work` on the place of a path. Links on the way are followed; with `follows` the last one is too. Null, and
 * nothing is run, when something on the way is not there or is no folder.
 */
export async function atPath<T>(
  mount: string,
  { volume, path }: { volume: Volume; path: string },
  work: (place: MountPlace) => Promise<T>,
  { follows = false } = {},
): Promise<T | null> {
  const way = new Way(mount);
  try {
    const place = await way.walk(volume, path, follows);
    return place === null ? null : await work(place);
  } finally {
    await way.close();
  }
}

class Way {
  readonly #mount: string;
  /** From the volume down. */
  #folders: FileHandle[] = [];
  #volume: Volume = 'workspace';

  constructor(mount: string) {
    this.#mount = mount;
  }

  async walk(volume: Volume, path: string, follows: boolean): Promise<MountPlace | null> {
    await this.#enter(volume);
    let names = namesOf(path);
    for (let links = 0; ; ) {
      const [name, ...rest] = names;
      if (name === undefined) return { folder: this.#here, name: null };
      if (name === '..') {
        if (this.#folders.length > 1) await this.#folders.pop()?.close();
        names = rest;
        continue;
      }
      const at = { folder: this.#here, name };
      const stat = rest.length > 0 || follows ? await there(lstat(pathOfPlace(at))) : null;
      if (stat?.isSymbolicLink()) {
        links += 1;
        if (links > MOST_LINKS) return null;
        const target = await there(readlink(pathOfPlace(at)));
        const next = target === null ? null : await this.#follow(target, rest);
        if (next === null) return null;
        names = next;
        continue;
      }
      if (rest.length === 0) return at;
      const folder = await there(openFolder(pathOfPlace(at)));
      if (folder === null) return null;
      this.#folders.push(folder);
      names = rest;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#folders.splice(0).map((folder) => folder.close()));
  }

  get #here(): FileHandle {
    const folder = this.#folders.at(-1);
    if (folder === undefined) throw new Error(`The volume ${this.#volume} is not open.`);
    return folder;
  }

  async #enter(volume: Volume): Promise<void> {
    await this.close();
    this.#volume = volume;
    this.#folders.push(await openFolder(join(this.#mount, volume)));
  }

  /** The names that are left to walk behind a link; null when it leads out of the volumes. */
  async #follow(target: string, rest: readonly string[]): Promise<string[] | null> {
    if (!target.startsWith('/')) return [...namesOf(target), ...rest];
    const [first, ...names] = namesOf(target);
    const volume = VOLUMES.find((one) => one === first);
    if (volume === undefined) return null;
    await this.#enter(volume);
    return [...names, ...rest];
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Null for what is not there; anything else that the file system says is thrown. */
export async function there<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (NOT_THERE.has(codeOf(error))) return null;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** What a failure of the mount means for who asked for a path. */
export function placeError(error: unknown, { volume, path }: { volume: Volume; path: string }): unknown {
  const where = `${JSON.stringify(path)} in ${volume}`;
  switch (codeOf(error)) {
    case 'ENOSPC':
      return new WinterdockError('quota_exceeded', `The sandbox has no room for ${where}.`, {
        hint: 'Remove something, or give it a larger limit.',
      });
    case 'ENOENT':
      return new WinterdockError('not_found', `There is no ${where}.`);
    case 'EEXIST':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOTEMPTY':
    case 'EINVAL':
      return new WinterdockError('conflict', `Something else is at ${where}, or on the way there.`);
    case 'ENAMETOOLONG':
      return new WinterdockError('validation', `A name of ${where} is longer than 255 bytes.`);
    case 'EIO':
      return new WinterdockError('storage_unavailable', `The disk failed at ${where}.`);
    default:
      return error;
  }
}
