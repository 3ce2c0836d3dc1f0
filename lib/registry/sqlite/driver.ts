/**
 * The registry as an SQLite file, while it is closed, and one in memory. The file goes by its real path, whatever link
 * leads to it. Knows nothing of what its rows mean.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  chmodFile,
  copyFile,
  makeFolder,
  renameFile,
  renameFileNow,
  syncFile,
  syncFolder,
  syncFolderNow,
  unlinkFile,
  unlinkFileNow,
  writeNewFileNow,
} from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import { type HeldLock, holdLock, isHeldElsewhere } from '../../base/file-lock.ts';
import { isThere } from '../../base/is-there.ts';
import type { RegistryDraft, RegistryDriver, RegistryOptions, RegistryPresence } from '../driver.ts';
import type { LedgerView } from '../ledger.ts';
import type { Registry } from '../registry.ts';
import { sqliteCode } from './database.ts';
import { openLedgerFile } from './ledger-file.ts';
import { openLiveReader } from './live-reader.ts';
import { knownMigrations } from './migrate.ts';
import { openSqliteRegistry } from './open.ts';
import { realPathOf } from './real-path.ts';
import { openRegistryFile, registryFileState } from './registry-file.ts';
import { toAsync } from './to-async.ts';
import { requireUsableFile } from './usable-file.ts';

/** What SQLite keeps of a database. The log is first: alone it says nothing, and a file without its log too little. */
const PARTS = ['-wal', '-journal', ''];
const INDEX = '-shm';
/** A file that another process makes at this moment is tried again, so often and with so many milliseconds between. */
const MOST_TRIES = 20;
const TRY_MS = 100;

/** The driver of a registry in memory: each time it is opened it is a new one. */
export function memoryDriver(): RegistryDriver {
  const nothing = (): never => {
    throw new WinterdockError('not_found', 'A registry in memory has no file.');
  };
  return {
    name: ':memory:',
    isKept: false,
    headPath: null,
    knownMigrations,
    presence: async () => ({ kind: 'missing' }),
    async requireUsable() {},
    async requireUnlocked() {},
    lock: async () => async () => {},
    open: async (options) => openSqliteRegistry({ path: ':memory:', ...options }),
    inspect: async () => nothing(),
    readLive: async () => nothing(),
    readLedger: async () => nothing(),
    draft: async () => nothing(),
    setAside: async () => null,
    async remove() {},
  };
}

/** The driver of the file at an absolute path, which may be a link. */
export function sqliteFileDriver(path: string): RegistryDriver {
  return new SqliteFileDriver(path);
}

class SqliteFileDriver implements RegistryDriver {
  readonly name: string;
  readonly isKept = true;
  /** The real path, which stays the same while this process runs, whatever becomes of a link. */
  readonly #path: string;
  #held: HeldLock | null = null;

  constructor(path: string) {
    this.name = path;
    this.#path = realPathOf(path);
  }

  get #isLocked(): string {
    return `Another Winterdock uses the registry ${this.name}. Stop it, or set WB_REGISTRY to another one.`;
  }

  /** An earlier version kept the head beside the link, and `open` moves it when the registry is locked. */
  get headPath(): string {
    const [own, beside] = [`${this.#path}.head`, `${this.name}.head`];
    return existsSync(own) || !existsSync(beside) ? own : beside;
  }

  knownMigrations(): number {
    return knownMigrations();
  }

  async presence(): Promise<RegistryPresence> {
    const { bytes, walBytes } = registryFileState(this.#path);
    if (bytes === null) return { kind: 'missing' };
    if (bytes > 0) return { kind: 'there', logBytes: walBytes };
    return walBytes > 0 ? { kind: 'log_only', logBytes: walBytes } : { kind: 'empty' };
  }

  async requireUsable(): Promise<void> {
    requireUsableFile(this.#path, this.name);
  }

  async requireUnlocked(): Promise<void> {
    if (isHeldElsewhere(this.#path)) throw new Error(this.#isLocked);
  }

  async lock(dataFolder: string): Promise<() => Promise<void>> {
    const message = this.#isLocked;
    const nameIsHeld = dirname(this.#path) === realPathOf(dataFolder);
    const held = holdLock(this.#path, { path: `${this.#path}.lock`, message, nameIsHeld });
    this.#held = held;
    return async () => {
      if (this.#held === held) this.#held = null;
      held.release();
    };
  }

  async open(options: RegistryOptions): Promise<Registry> {
    const registry = await this.#opened({ path: this.#path, link: this.name, ...options });
    try {
      if (this.#held !== null) {
        // It may just have been made: then only its name was locked.
        this.#held.cover();
        this.#takeHeadOver();
      }
      return registry;
    } catch (error) {
      await registry.close();
      throw error;
    }
  }

  /**
   * Where both have only its name locked, each by its own name, another may be making the file at this moment: either
   * that has it then, or it gives up.
   */
  async #opened(options: Parameters<typeof openSqliteRegistry>[0]): Promise<Registry> {
    for (let tries = 1; ; tries += 1) {
      try {
        return openSqliteRegistry(options);
      } catch (error) {
        if (this.#held === null || !sqliteCode(error)?.startsWith('SQLITE_BUSY')) throw error;
        if (isHeldElsewhere(this.#path)) throw new Error(this.#isLocked);
        if (tries === MOST_TRIES) throw error;
        await pause(TRY_MS);
      }
    }
  }

  /** Moves a head that lies beside the link to the file. May be repeated after an interruption. */
  #takeHeadOver(): void {
    const own = `${this.#path}.head`;
    const beside = this.headPath;
    if (beside === own) return;
    try {
      renameFileNow(beside, own);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
      const draft = `${own}.draft`;
      unlinkFileNow(draft);
      writeNewFileNow(draft, readFileSync(beside, 'utf8'));
      renameFileNow(draft, own);
      syncFolderNow(dirname(own));
      unlinkFileNow(beside);
    }
    syncFolderNow(dirname(own));
    syncFolderNow(dirname(beside));
  }

  async inspect() {
    return openRegistryFile(this.#path);
  }

  async readLive() {
    return openLiveReader(this.#path);
  }

  async readLedger() {
    return toAsync<LedgerView>(openLedgerFile(this.#path));
  }

  async draft(from: string, options: RegistryOptions): Promise<RegistryDraft> {
    const [path, draft] = [this.#path, `${this.#path}.restoring`];
    const cover = () => this.#held?.cover();
    const removeDraft = async () => {
      for (const part of [...PARTS, INDEX]) await unlinkFile(draft + part);
    };
    await makeFolder(dirname(path));
    await removeDraft();
    await copyFile(from, draft);
    await chmodFile(draft, 0o600);
    // Nobody reads the draft: it is on disk as a whole before it gets its name.
    const registry = openSqliteRegistry({ path: draft, ...options, durable: false, keeper: null });
    let isPlaced = false;
    return {
      registry,
      async place() {
        if (!(await registry.storage.checkpoint())) {
          throw new WinterdockError('storage_unavailable', `The disk could not write the registry ${draft}.`);
        }
        await registry.close();
        await syncFile(draft);
        await renameFile(draft, path);
        isPlaced = true;
        cover();
        await syncFolder(dirname(path));
      },
      async discard() {
        await registry.close();
        if (!isPlaced) await removeDraft();
      },
    };
  }

  async setAside(move: (path: string, name: string) => Promise<void>): Promise<null> {
    for (const part of PARTS) {
      const path = this.#path + part;
      if (isThere(path)) await move(path, basename(path));
    }
    await unlinkFile(this.#path + INDEX);
    await syncFolder(dirname(this.#path));
    return null;
  }

  async remove(): Promise<void> {
    for (const part of [...PARTS, INDEX]) await unlinkFile(this.#path + part);
  }
}
