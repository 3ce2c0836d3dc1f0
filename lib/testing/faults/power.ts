/**
 * What a power cut leaves of a folder: only the bytes that an fsync of their file covered and only the names that an
 * fsync of their folder covered, each as of its last one. Told of effects as they happen; knows nothing of what the
 * files are. What SQLite writes in the files that it has open it syncs by itself, and is taken as it is.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Effect } from '../../base/effects.ts';

type Inode = string;

interface Name {
  inode: Inode;
  folder: boolean;
}

/** Files that SQLite keeps: the registry's, and those that lie in a sandbox's live folder. */
const OF_SQLITE = /(^|\/)(registry\.sqlite(-wal|-shm|-journal)?|live\/[^/]+\/vfs\.sqlite(-wal|-shm|-journal)?)$/;
/** The live folder of a sandbox, and what SQLite has beside a file while a process has it open. */
const OF_LIVE = /\/live\/[^/]+$/;
const LOGS = ['-wal', '-journal'];
const REGISTRY = 'registry.sqlite';
const OF_REGISTRY = /(^|\/)registry\.sqlite(-wal|-shm|-journal)?$/;
/**
 * Files of ours that another takes the place of. (To close a file that SQLite has open in this process would give up
 * its locks.)
 */
const REPLACED = /\.head$|\.json$|\.key$/;
/** Of a test alone: what only makes a start quicker. */
const PASSED_OVER = /(^|\/)cache(\/|$)/;

export class PowerCut {
  readonly #root: string;
  readonly #shadow = mkdtempSync(join(tmpdir(), 'winterdock-shadow-'));
  /** The names of each folder (absolute) as they are on disk. */
  readonly #names = new Map<string, Map<string, Name>>();
  /** Inodes whose bytes this process wrote and nobody has synced. */
  readonly #unsynced = new Set<Inode>();
  /** Held open, by path: the number of a file whose name is still on disk must not be given to another one. */
  readonly #held = new Map<string, number>();
  /** Stamps of the live files without a log when they were last kept, by path. */
  readonly #closed = new Map<string, string>();
  /** Stamp of the registry's file when it was last kept. */
  #registry = '';
  /** Counts what became durable, so that nobody builds the same twice. */
  version = 0;

  /** Takes what is in the folder (absolute) as on disk. */
  constructor(root: string) {
    this.#root = root;
    this.#keepTree(root);
    this.#registry = stampOf(join(root, REGISTRY));
  }

  /** Takes in an effect that has happened. */
  after({ kind, path, to }: Effect): void {
    if (kind === 'store_put' && path.startsWith(`${pathToFileURL(this.#root).href}/`)) {
      this.#keepObject(fileURLToPath(path));
      return;
    }
    if (!path.startsWith(this.#root) || PASSED_OVER.test(path)) return;
    this.#followCheckpoint();
    this.#followClosedFiles();
    switch (kind) {
      case 'create':
      case 'write':
        this.#unsynced.add(inodeOf(path) ?? '');
        return;
      case 'copy':
        this.#unsynced.add(inodeOf(to ?? '') ?? '');
        return;
      case 'sync':
      case 'delegate':
        this.#keepBytes(path);
        // SQLite syncs the folder of a log that it makes or removes.
        if (OF_SQLITE.test(path) && existsSync(dirname(path))) this.#keepNames(dirname(path));
        this.version += 1;
        return;
      case 'sync_folder':
        this.#keepNames(path);
        this.version += 1;
        return;
      case 'commit':
        this.#keepRegistry();
        this.version += 1;
        return;
      default:
      // A name or a mode that changed is on disk with the next fsync of its folder.
    }
  }

  /** Builds what a cut at this moment leaves, in a folder that is not there yet. */
  build(target: string): void {
    const now = new Map<Inode, string>();
    for (const path of filesBelow(this.#root)) now.set(inodeOf(path) ?? '', path);
    this.#buildFolder(this.#root, target, now);
  }

  /** Removes what it kept. */
  end(): void {
    for (const descriptor of this.#held.values()) closeSync(descriptor);
    this.#held.clear();
    rmSync(this.#shadow, { recursive: true, force: true });
  }

  #buildFolder(folder: string, target: string, now: Map<Inode, string>): void {
    mkdirSync(target, { mode: 0o700 });
    const names = new Map(this.#names.get(folder) ?? []);
    // A log that SQLite has committed to has its name on disk, and so has the file beside it.
    if (existsSync(join(folder, 'vfs.sqlite-wal'))) for (const [name, at] of namesIn(folder)) names.set(name, at);
    for (const [name, { inode, folder: isFolder }] of names) {
      if (name.endsWith('-shm') || PASSED_OVER.test(name)) continue;
      const at = join(folder, name);
      const built = join(target, name);
      if (isFolder) this.#buildFolder(at, built, now);
      else this.#buildFile(inode, now.get(inode), built, OF_SQLITE.test(at) && !OF_REGISTRY.test(name));
    }
  }

  #buildFile(inode: Inode, path: string | undefined, built: string, isSqlites: boolean): void {
    const kept = join(this.#shadow, inode);
    if (path !== undefined && isSqlites && !this.#unsynced.has(inode)) copyTimed(path, built);
    else if (existsSync(kept)) copyTimed(kept, built);
    else writeFileSync(built, '');
    chmodSync(built, 0o600);
  }

  /** A checkpoint syncs the log before the file, and the file before the log is written over. */
  #followCheckpoint(): void {
    if (stampOf(join(this.#root, REGISTRY)) !== this.#registry) this.#keepRegistry();
  }

  /**
   * A process that closes a sandbox's file syncs it, removes its log and syncs the folder, without an effect of ours:
   * what is there without a log is on disk.
   */
  #followClosedFiles(): void {
    for (const [folder, names] of this.#names) {
      const file = join(folder, 'vfs.sqlite');
      if (!OF_LIVE.test(folder) || !existsSync(file) || LOGS.some((log) => existsSync(`${file}${log}`))) continue;
      for (const log of LOGS) names.delete(`vfs.sqlite${log}`);
      if (this.#unsynced.has(inodeOf(file) ?? '') || stampOf(file) === this.#closed.get(file)) continue;
      this.#keepBytes(file);
      this.#closed.set(file, stampOf(file));
      this.version += 1;
    }
  }

  /** A large object is written by a process of its own, which has it and its names on disk before it answers. */
  #keepObject(path: string): void {
    this.#keepBytes(path);
    for (let at = dirname(path); at.length >= this.#root.length; at = dirname(at)) this.#keepNames(at);
    this.version += 1;
  }

  #keepRegistry(): void {
    for (const suffix of ['', '-wal']) this.#keepBytes(join(this.#root, `${REGISTRY}${suffix}`));
    for (const [name, at] of namesIn(this.#root)) {
      if (OF_REGISTRY.test(name)) this.#names.get(this.#root)?.set(name, at);
    }
    this.#registry = stampOf(join(this.#root, REGISTRY));
  }

  #keepTree(folder: string): void {
    this.#keepNames(folder);
    for (const [name, { folder: isFolder }] of this.#names.get(folder) ?? []) {
      const path = join(folder, name);
      if (PASSED_OVER.test(path)) continue;
      if (isFolder) this.#keepTree(path);
      else this.#keepBytes(path);
    }
  }

  #keepNames(folder: string): void {
    if (!existsSync(folder)) return;
    const names = namesIn(folder);
    this.#names.set(folder, names);
    for (const name of names.keys()) if (REPLACED.test(name)) this.#hold(join(folder, name));
  }

  #hold(path: string): void {
    const before = this.#held.get(path);
    this.#held.set(path, openSync(path, 'r'));
    if (before !== undefined) closeSync(before);
  }

  #keepBytes(path: string): void {
    const inode = inodeOf(path);
    if (inode === null) return;
    const kept = join(this.#shadow, inode);
    rmSync(kept, { force: true });
    copyTimed(path, kept);
    chmodSync(kept, 0o600);
    this.#unsynced.delete(inode);
  }
}

/** Copies a file with its times, which an fsync covers too. */
function copyTimed(path: string, to: string): void {
  const { atime, mtime } = statSync(path);
  copyFileSync(path, to);
  utimesSync(to, atime, mtime);
}

function stampOf(path: string): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

function inodeOf(path: string): Inode | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? String(stat.ino) : null;
}

function namesIn(folder: string): Map<string, Name> {
  return new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .flatMap((entry): [string, Name][] => {
        const stat = lstatSync(join(folder, entry.name), { throwIfNoEntry: false });
        return stat === undefined ? [] : [[entry.name, { inode: String(stat.ino), folder: stat.isDirectory() }]];
      }),
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
