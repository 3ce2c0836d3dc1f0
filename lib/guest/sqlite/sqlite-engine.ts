/**
 * SQLite as WebAssembly, with a maximum of memory, whose files are the workspace's and nothing else's. Knows no command
 * and no language.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Sqlite3Static, WasmPointer } from '@sqlite.org/sqlite-wasm';
import type { EngineChannel } from './engine-channel.ts';
import { EngineDatabase, SqliteFailure } from './engine-database.ts';
import { FILE_SYSTEM, installFiles, SECTOR_BYTES } from './engine-files.ts';
import { WorkspaceFiles } from './workspace-files.ts';

const PAGE_BYTES = 65_536;
const FIRST_PAGES = 128;

export class SqliteEngine {
  readonly lib: Sqlite3Static;
  readonly files: WorkspaceFiles;
  /** The directory that relative names of files start from. */
  cwd = '/workspace';

  constructor(lib: Sqlite3Static, files: WorkspaceFiles) {
    this.lib = lib;
    this.files = files;
  }

  get version(): string {
    return this.lib.version.libVersion;
  }

  /** Opens a database. Throws SqliteFailure. */
  open(name: string, options: { readOnly?: boolean; exclusive?: boolean } = {}): EngineDatabase {
    const { capi, wasm } = this.lib;
    const isMemory = name === ':memory:' || name === '';
    const flags = options.readOnly ? capi.SQLITE_OPEN_READONLY : capi.SQLITE_OPEN_READWRITE | capi.SQLITE_OPEN_CREATE;
    const scope = wasm.scopedAllocPush();
    this.files.takeRefusal();
    try {
      const place = wasm.scopedAllocPtr(1) as unknown as WasmPointer;
      const code = capi.sqlite3_open_v2(isMemory ? ':memory:' : name, place, flags, FILE_SYSTEM);
      const pointer = wasm.peekPtr(place);
      const database = new EngineDatabase(this.lib, pointer);
      if (code !== capi.SQLITE_OK) {
        const { message, extended, offset } = database.failure(code);
        database.close();
        const refusal = this.files.takeRefusal();
        throw new SqliteFailure(refusal === null ? message : `${message}: ${refusal}`, code & 0xff, extended, offset);
      }
      if (!isMemory) database.run(`PRAGMA page_size = ${SECTOR_BYTES}`);
      if (!isMemory && (options.exclusive || this.#needsSharedMemory(database)))
        database.run('PRAGMA locking_mode = EXCLUSIVE');
      return database;
    } finally {
      wasm.scopedAllocPop(scope);
    }
  }

  /** Whether it is in WAL mode, for which a connection that shares the file would need memory that processes share. */
  #needsSharedMemory(database: EngineDatabase): boolean {
    try {
      database.run('PRAGMA schema_version');
    } catch (error) {
      this.files.takeRefusal();
      return error instanceof SqliteFailure && error.code === this.lib.capi.SQLITE_CANTOPEN;
    }
    return false;
  }
}

/** Loads SQLite with a maximum of memory. */
export async function loadEngine(channel: EngineChannel): Promise<SqliteEngine> {
  const require = createRequire(import.meta.url);
  const { default: init } = await import('@sqlite.org/sqlite-wasm');
  const maximum = Math.max(FIRST_PAGES, Math.floor(channel.start.memoryBytes / PAGE_BYTES));
  const options = {
    wasmBinary: readFileSync(require.resolve('@sqlite.org/sqlite-wasm/sqlite3.wasm')),
    wasmMemory: new WebAssembly.Memory({ initial: FIRST_PAGES, maximum }),
    print() {},
    printErr() {},
  };
  const lib = await (init as unknown as (given: typeof options) => Promise<Sqlite3Static>)(options);
  const engine = new SqliteEngine(lib, new WorkspaceFiles(channel));
  installFiles(lib, engine.files, () => engine.cwd);
  return engine;
}
