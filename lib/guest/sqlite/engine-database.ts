/** One open database of SQLite's WebAssembly, and its statements. Knows nothing of files. */
import type { Sqlite3Static, SqlValue, WasmPointer } from '@sqlite.org/sqlite-wasm';

/** A value as SQLite has it; integers that a number cannot hold are bigints. */
export type EngineValue = SqlValue;

export class SqliteFailure extends Error {
  /** SQLite's result code. */
  readonly code: number;
  readonly extended: number;
  /** Where in the SQL, in bytes; -1 when it is not known. */
  readonly offset: number;

  constructor(message: string, code: number, extended: number, offset: number) {
    super(message);
    this.code = code;
    this.extended = extended;
    this.offset = offset;
  }
}

/** SQLite copies the bytes before the call returns. */
const TRANSIENT = -1;

/** C's own functions: the package's wrappers fail on texts. */
interface BindFunctions {
  sqlite3_bind_null(statement: WasmPointer, number: number): number;
  sqlite3_bind_int64(statement: WasmPointer, number: number, value: bigint): number;
  sqlite3_bind_double(statement: WasmPointer, number: number, value: number): number;
  sqlite3_bind_text(statement: WasmPointer, number: number, text: WasmPointer, bytes: number, kept: number): number;
  sqlite3_bind_blob(statement: WasmPointer, number: number, blob: WasmPointer, bytes: number, kept: number): number;
}

/** One statement of a text, and the rest of it. */
export interface Prepared {
  /** Null for blanks and comments. */
  statement: Statement | null;
  rest: string;
}

export class EngineDatabase {
  readonly lib: Sqlite3Static;
  readonly pointer: WasmPointer;

  constructor(lib: Sqlite3Static, pointer: WasmPointer) {
    this.lib = lib;
    this.pointer = pointer;
    const { capi } = lib;
    // Names in double quotes that are no names are texts, as in the shell and the Python of everybody's machine.
    for (const option of [capi.SQLITE_DBCONFIG_DQS_DML, capi.SQLITE_DBCONFIG_DQS_DDL])
      capi.sqlite3_db_config(pointer, option, 1, 0);
  }

  failure(code: number): SqliteFailure {
    const { capi } = this.lib;
    const message = capi.sqlite3_errmsg(this.pointer) ?? 'unknown error';
    return new SqliteFailure(
      message,
      code & 0xff,
      capi.sqlite3_extended_errcode(this.pointer),
      capi.sqlite3_error_offset(this.pointer),
    );
  }

  get isAutocommit(): boolean {
    return this.lib.capi.sqlite3_get_autocommit(this.pointer) !== 0;
  }

  get changes(): number {
    return this.lib.capi.sqlite3_changes(this.pointer);
  }

  get totalChanges(): number {
    return this.lib.capi.sqlite3_total_changes(this.pointer);
  }

  get lastRowId(): bigint {
    return this.lib.capi.sqlite3_last_insert_rowid(this.pointer);
  }

  /** Prepares the first statement. Throws SqliteFailure. */
  prepare(sql: string): Prepared {
    const { capi, wasm } = this.lib;
    const scope = wasm.scopedAllocPush();
    try {
      const bytes = Buffer.from(`${sql}\0`);
      const text = wasm.scopedAlloc(bytes.length);
      wasm.heap8u().set(bytes, Number(text));
      const [place, tail] = [wasm.scopedAllocPtr(1), wasm.scopedAllocPtr(1)] as unknown as [WasmPointer, WasmPointer];
      const code = capi.sqlite3_prepare_v3(this.pointer, text, bytes.length - 1, 0, place, tail);
      if (code !== capi.SQLITE_OK) throw this.failure(code);
      const used = Number(wasm.peekPtr(tail)) - Number(text);
      const pointer = wasm.peekPtr(place);
      return {
        statement: pointer ? new Statement(this, pointer, bytes.toString('utf8', 0, used)) : null,
        rest: bytes.toString('utf8', used, bytes.length - 1),
      };
    } finally {
      wasm.scopedAllocPop(scope);
    }
  }

  /** Runs every statement; returns the rows of the last one. Throws SqliteFailure. */
  run(sql: string, parameters: EngineValue[] = []): EngineValue[][] {
    let rows: EngineValue[][] = [];
    for (let rest = sql; rest.trim() !== ''; ) {
      const prepared = this.prepare(rest);
      rest = prepared.rest;
      if (prepared.statement === null) continue;
      rows = [];
      try {
        for (const [at, value] of parameters.entries()) prepared.statement.bind(at + 1, value);
        while (prepared.statement.step()) rows.push(prepared.statement.row());
      } finally {
        prepared.statement.finalize();
      }
    }
    return rows;
  }

  close(): void {
    this.lib.capi.sqlite3_close_v2(this.pointer);
  }
}

export class Statement {
  readonly database: EngineDatabase;
  readonly pointer: WasmPointer;
  readonly sql: string;

  constructor(database: EngineDatabase, pointer: WasmPointer, sql: string) {
    this.database = database;
    this.pointer = pointer;
    this.sql = sql;
  }

  get #capi() {
    return this.database.lib.capi;
  }

  get columnCount(): number {
    return this.#capi.sqlite3_column_count(this.pointer);
  }

  columnNames(): string[] {
    return Array.from({ length: this.columnCount }, (_, at) => this.#capi.sqlite3_column_name(this.pointer, at) ?? '');
  }

  /** Types as they are declared; null where there is none. */
  declaredTypes(): (string | null)[] {
    return Array.from(
      { length: this.columnCount },
      (_, at) => this.#capi.sqlite3_column_decltype(this.pointer, at) ?? null,
    );
  }

  get isReadOnly(): boolean {
    return this.#capi.sqlite3_stmt_readonly(this.pointer) !== 0;
  }

  get parameterCount(): number {
    return this.#capi.sqlite3_bind_parameter_count(this.pointer);
  }

  /** Null for one without a name. */
  parameterName(number: number): string | null {
    return this.#capi.sqlite3_bind_parameter_name(this.pointer, number) || null;
  }

  /** Throws SqliteFailure. */
  bind(number: number, value: EngineValue): void {
    const { exports } = this.database.lib.wasm;
    const code = this.#bound(exports as unknown as BindFunctions, number, value);
    if (code !== this.#capi.SQLITE_OK) throw this.database.failure(code);
  }

  #bound(calls: BindFunctions, number: number, value: EngineValue): number {
    const { pointer } = this;
    if (value === null || value === undefined) return calls.sqlite3_bind_null(pointer, number);
    if (typeof value === 'bigint') return calls.sqlite3_bind_int64(pointer, number, value);
    if (typeof value === 'number') return calls.sqlite3_bind_double(pointer, number, value);
    const { wasm } = this.database.lib;
    const content = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
    const copy = wasm.alloc(content.byteLength + 1);
    try {
      wasm.heap8u().set(content, Number(copy));
      const bind = typeof value === 'string' ? calls.sqlite3_bind_text : calls.sqlite3_bind_blob;
      return bind(pointer, number, copy, content.byteLength, TRANSIENT);
    } finally {
      wasm.dealloc(copy);
    }
  }

  /** True for a row. Throws SqliteFailure. */
  step(): boolean {
    const code = this.#capi.sqlite3_step(this.pointer);
    if (code === this.#capi.SQLITE_ROW) return true;
    if (code === this.#capi.SQLITE_DONE) return false;
    throw this.database.failure(code);
  }

  /** The current row: integers are bigints. */
  row(): EngineValue[] {
    return Array.from({ length: this.#capi.sqlite3_data_count(this.pointer) }, (_, at) => this.#value(at));
  }

  #value(at: number): EngineValue {
    const capi = this.#capi;
    const { wasm } = this.database.lib;
    switch (capi.sqlite3_column_type(this.pointer, at)) {
      case capi.SQLITE_INTEGER:
        return capi.sqlite3_column_int64(this.pointer, at);
      case capi.SQLITE_FLOAT:
        return capi.sqlite3_column_double(this.pointer, at);
      case capi.SQLITE_NULL:
        return null;
      case capi.SQLITE_TEXT: {
        const start = Number(wasm.exports.sqlite3_column_text(this.pointer, at));
        const size = capi.sqlite3_column_bytes(this.pointer, at);
        return Buffer.from(wasm.heap8u().slice(start, start + size)).toString('utf8');
      }
      default: {
        const start = Number(capi.sqlite3_column_blob(this.pointer, at));
        const size = capi.sqlite3_column_bytes(this.pointer, at);
        return wasm.heap8u().slice(start, start + size);
      }
    }
  }

  reset(): void {
    this.#capi.sqlite3_reset(this.pointer);
  }

  finalize(): void {
    this.#capi.sqlite3_finalize(this.pointer);
  }
}
