/**
 * The databases and cursors of one run of Python, behind its `sqlite3` module (python-module.ts). A request and its
 * answer are JSON; integers are JSON's, other values that JSON has not are objects. Runs in SQLite's thread.
 */
import { type EngineDatabase, type EngineValue, SqliteFailure, type Statement } from './engine-database.ts';
import type { SqliteEngine } from './sqlite-engine.ts';

/** Rows and bytes of one answer, which crosses into Python as a whole. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 1024 * 1024;
const MAX_OPEN = 1000;
/** A larger file is not written back more often than this, in milliseconds. */
const WRITE_EVERY_MS = 250;

type Given = null | string | { i: string } | { f: string } | { b: string };

type SqlParameters = Given[] | Record<string, Given>;

interface SessionRequest {
  op: 'open' | 'close' | 'execute' | 'many' | 'fetch' | 'reset' | 'script' | 'state' | 'version' | 'complete' | 'end';
  id?: number;
  path?: string;
  readOnly?: boolean;
  sql?: string;
  /** One list of values, or values by name. */
  parameters?: SqlParameters;
  /** Of `many`. */
  sets?: SqlParameters[];
}

interface Cursor {
  database: number;
  statement: Statement;
}

export class PythonSession {
  readonly #engine: SqliteEngine;
  readonly #databases = new Map<number, EngineDatabase>();
  readonly #cursors = new Map<number, Cursor>();
  #nextId = 1;
  #writtenAt = 0;

  constructor(engine: SqliteEngine) {
    this.#engine = engine;
  }

  /** Answers a request in JSON; what fails is an answer too. */
  answer(text: string): string {
    try {
      return JSON.stringify(this.#perform(JSON.parse(text) as SessionRequest));
    } catch (error) {
      if (error instanceof SqliteFailure)
        return JSON.stringify({ error: error.message, code: error.code, extended: error.extended });
      if (error instanceof UseError) return JSON.stringify({ error: error.message, kind: error.kind });
      return JSON.stringify({
        error: error instanceof Error ? error.message : String(error),
        kind: 'OperationalError',
      });
    }
  }

  #perform(request: SessionRequest): unknown {
    switch (request.op) {
      case 'open':
        return this.#openDatabase(request);
      case 'close':
        return this.#closeDatabase(Number(request.id));
      case 'execute':
        return this.#execute(Number(request.id), String(request.sql), request.parameters ?? []);
      case 'fetch':
        return this.#fetch(Number(request.id));
      case 'reset':
        return this.#reset(Number(request.id));
      case 'script':
        return this.#script(Number(request.id), String(request.sql));
      case 'state':
        return this.#stateOf(this.#database(Number(request.id)));
      case 'many':
        return this.#executeMany(Number(request.id), String(request.sql), request.sets ?? []);
      case 'version':
        return { version: this.#engine.version };
      case 'complete':
        return { complete: this.#engine.lib.capi.sqlite3_complete(String(request.sql)) !== 0 };
      case 'end':
        for (const id of [...this.#databases.keys()]) this.#closeDatabase(id);
        this.#engine.files.flush();
        return {};
      default:
        throw new UseError('ProgrammingError', 'There is no such operation.');
    }
  }

  #openDatabase({ path, readOnly }: SessionRequest): unknown {
    if (this.#databases.size >= MAX_OPEN) throw new UseError('OperationalError', 'unable to open database file');
    const database = this.#engine.open(String(path), { readOnly: readOnly === true });
    const id = this.#nextId++;
    this.#databases.set(id, database);
    return { id, version: this.#engine.version };
  }

  #closeDatabase(id: number): unknown {
    const database = this.#databases.get(id);
    if (database === undefined) return {};
    for (const [key, cursor] of this.#cursors) {
      if (cursor.database !== id) continue;
      cursor.statement.finalize();
      this.#cursors.delete(key);
    }
    database.close();
    this.#databases.delete(id);
    this.#engine.files.flush();
    return {};
  }

  #database(id: number): EngineDatabase {
    const database = this.#databases.get(id);
    if (database === undefined) throw new UseError('ProgrammingError', 'Cannot operate on a closed database.');
    return database;
  }

  #execute(id: number, sql: string, parameters: SqlParameters): unknown {
    const database = this.#database(id);
    const { statement, rest } = database.prepare(sql);
    if (statement === null) return { columns: null, rows: [], done: true, direct: -1, ...this.#state(database) };
    try {
      if (database.prepare(rest).statement !== null)
        throw new UseError('ProgrammingError', 'You can only execute one statement at a time.');
      bindAll(statement, parameters);
    } catch (error) {
      statement.finalize();
      throw error;
    }
    const columns = statement.columnCount === 0 ? null : statement.columnNames();
    const types = columns === null ? null : statement.declaredTypes();
    const cursor = this.#nextId++;
    if (this.#cursors.size >= MAX_OPEN) throw new UseError('OperationalError', 'too many open statements');
    this.#cursors.set(cursor, { database: id, statement });
    const batch = this.#fetch(cursor);
    return { ...batch, cursor, columns, types, direct: database.changes };
  }

  #executeMany(id: number, sql: string, sets: readonly SqlParameters[]): unknown {
    const database = this.#database(id);
    const { statement, rest } = database.prepare(sql);
    if (statement === null) return { changes: 0, ...this.#state(database) };
    let changes = 0;
    try {
      if (database.prepare(rest).statement !== null)
        throw new UseError('ProgrammingError', 'You can only execute one statement at a time.');
      for (const parameters of sets) {
        bindAll(statement, parameters);
        while (statement.step()) {
          // Rows that it returns are nobody's.
        }
        changes += database.changes;
        statement.reset();
      }
    } finally {
      statement.finalize();
    }
    return { changes, ...this.#state(database) };
  }

  #fetch(id: number) {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) return { rows: [], done: true };
    const database = this.#database(cursor.database);
    const rows: unknown[][] = [];
    let bytes = 0;
    let done = false;
    try {
      while (rows.length < BATCH_ROWS && bytes < BATCH_BYTES && !done) {
        done = !cursor.statement.step();
        if (done) break;
        const row = cursor.statement.row();
        bytes += row.reduce<number>((total, value) => total + sizeOf(value), 0);
        rows.push(row.map(toPython));
      }
    } catch (error) {
      this.#reset(id);
      throw error;
    }
    if (done) this.#reset(id);
    return { rows, done, ...this.#state(database) };
  }

  #reset(id: number): unknown {
    this.#cursors.get(id)?.statement.finalize();
    this.#cursors.delete(id);
    return {};
  }

  #script(id: number, sql: string): unknown {
    const database = this.#database(id);
    database.run(sql);
    return this.#state(database);
  }

  /** Where a connection stands; writes committed changes back. */
  #state(database: EngineDatabase) {
    if (database.isAutocommit) this.#writeBack();
    return this.#stateOf(database);
  }

  #stateOf(database: EngineDatabase) {
    return {
      transaction: !database.isAutocommit,
      lastRowId: rawInteger(database.lastRowId),
      totalChanges: database.totalChanges,
    };
  }

  #writeBack(): void {
    const { files } = this.#engine;
    if ([...this.#databases.values()].some((database) => !database.isAutocommit)) return;
    if (files.changedBytes > BATCH_BYTES && performance.now() - this.#writtenAt < WRITE_EVERY_MS) return;
    try {
      files.flush();
    } catch (error) {
      // Statements that still read would go on with pages that are no more.
      for (const id of [...this.#cursors.keys()]) this.#reset(id);
      throw error;
    }
    this.#writtenAt = performance.now();
  }
}

/** A wrong use of the module; `kind`: the exception's name. */
class UseError extends Error {
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

function bindAll(statement: Statement, parameters: SqlParameters): void {
  const count = statement.parameterCount;
  if (Array.isArray(parameters)) {
    if (parameters.length !== count)
      throw new UseError(
        'ProgrammingError',
        `Incorrect number of bindings supplied. The current statement uses ${count}, and there are ${parameters.length} supplied.`,
      );
    for (const [at, value] of parameters.entries()) statement.bind(at + 1, fromPython(value));
    return;
  }
  for (let number = 1; number <= count; number += 1) {
    const name = statement.parameterName(number);
    if (name === null)
      throw new UseError(
        'ProgrammingError',
        `Binding ${number} has no name, but you supplied a dictionary (which has only names).`,
      );
    const key = name.slice(1);
    if (!Object.hasOwn(parameters, key))
      throw new UseError('ProgrammingError', `You did not supply a value for binding parameter :${key}.`);
    statement.bind(number, fromPython(parameters[key] ?? null));
  }
}

function fromPython(value: Given): EngineValue {
  if (value === null || typeof value === 'string') return value;
  if ('i' in value) return BigInt(value.i);
  if ('f' in value)
    return value.f === 'inf'
      ? Number.POSITIVE_INFINITY
      : value.f === '-inf'
        ? Number.NEGATIVE_INFINITY
        : Number(value.f);
  return new Uint8Array(Buffer.from(value.b, 'base64'));
}

function toPython(value: EngineValue): unknown {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null;
  if (typeof value === 'bigint') return rawInteger(value);
  if (typeof value === 'number') return { f: Number.isFinite(value) ? String(value) : value > 0 ? 'inf' : '-inf' };
  return { b: Buffer.from(value as Uint8Array).toString('base64') };
}

/** An integer that JSON writes with all of its digits. */
function rawInteger(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));
}

function sizeOf(value: EngineValue): number {
  return typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength * 2 : 8;
}
