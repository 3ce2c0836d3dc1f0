/**
 * The minutes of a day, in an SQLite file of this server's own: neither the registry nor a backup carries them. What a
 * power cut takes is the last minutes, never the file. Knows nothing of how they are measured.
 */
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolderNow, performingNow, unlinkFileNow } from '../../base/effects.ts';
import { isThere } from '../../base/is-there.ts';
import type { LoadSample } from './load-ring.ts';

/** Minutes kept. */
const MINUTES_KEPT = 1440;

/** Whose: of a tenant without an id, of the server without both. */
export interface LoadSubject {
  tenant: string;
  id: string;
}

/** What was taken in a minute, of which `measuredMs` were measured. */
export interface LoadSum extends LoadSample {
  measuredMs: number;
  diskBytes: number | null;
}

interface Row extends LoadSum {
  minute: number;
}

const TABLE = `
  CREATE TABLE IF NOT EXISTS minutes (
    tenant TEXT NOT NULL, id TEXT NOT NULL, minute INTEGER NOT NULL, measuredMs INTEGER NOT NULL,
    cpuMs INTEGER NOT NULL, memoryBytes INTEGER NOT NULL, calls INTEGER NOT NULL, bytesIn INTEGER NOT NULL,
    bytesOut INTEGER NOT NULL, diskBytes INTEGER, PRIMARY KEY (tenant, id, minute)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS minutes_by_time ON minutes (minute);`;

/** A minute that a restart has cut in two is their sum. */
const ADD = `
  INSERT INTO minutes VALUES (@tenant, @id, @minute, @measuredMs, @cpuMs, @memoryBytes, @calls, @bytesIn, @bytesOut,
    @diskBytes)
  ON CONFLICT DO UPDATE SET measuredMs = min(60000, measuredMs + excluded.measuredMs), cpuMs = cpuMs + excluded.cpuMs,
    memoryBytes = max(memoryBytes, excluded.memoryBytes), calls = calls + excluded.calls,
    bytesIn = bytesIn + excluded.bytesIn, bytesOut = bytesOut + excluded.bytesOut,
    diskBytes = coalesce(excluded.diskBytes, diskBytes)`;

const READ = `
  SELECT minute, measuredMs, cpuMs, memoryBytes, calls, bytesIn, bytesOut, diskBytes FROM minutes
  WHERE tenant = ? AND id = ? AND minute >= ? AND minute < ? ORDER BY minute`;
const TENANTS = "SELECT DISTINCT tenant FROM minutes WHERE tenant <> ''";

export class MinutesFile {
  readonly #path: string;
  #client: Database.Database | null = null;

  /** `path`: absolute. It is made when something is first written. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Writes a minute in one transaction, and deletes those that are too old. Throws what SQLite throws. */
  write(minute: number, sums: readonly (LoadSubject & LoadSum)[]): void {
    this.#guarded(() => {
      const client = this.#client ?? this.#open();
      this.#commit(client, () => {
        const add = client.prepare(ADD);
        for (const sum of sums) add.run({ ...whole(sum), minute });
        client.prepare('DELETE FROM minutes WHERE minute <= ?').run(minute - MINUTES_KEPT);
      });
    });
  }

  /** The minutes since `from` and before `until`, oldest first. */
  read({ tenant, id }: LoadSubject, from: number, until: number): Row[] {
    return this.#existing((client) => client.prepare<unknown[], Row>(READ).all(tenant, id, from, until)) ?? [];
  }

  /** Deletes what a clock that was set back comes to again. */
  deleteSince(minute: number): void {
    this.#existing((client) =>
      this.#commit(client, () => client.prepare('DELETE FROM minutes WHERE minute >= ?').run(minute)),
    );
  }

  /** The tenants that it has minutes of. */
  tenants(): string[] {
    const rows = this.#existing((client) => client.prepare<[], { tenant: string }>(TENANTS).all());
    return rows?.map(({ tenant }) => tenant) ?? [];
  }

  /** Deletes all of a tenant, so that no byte of it is in the file or its log. */
  forget(tenant: string): void {
    this.#existing((client) => {
      this.#commit(client, () => client.prepare('DELETE FROM minutes WHERE tenant = ?').run(tenant));
      client.pragma('wal_checkpoint(TRUNCATE)');
    });
  }

  /** Idempotent. The next write opens it again. */
  close(): void {
    this.#client?.close();
    this.#client = null;
  }

  #commit(client: Database.Database, work: () => unknown): void {
    performingNow({ kind: 'commit_soon', path: this.#path }, client.transaction(work));
  }

  /** Undefined where there is no file. */
  #existing<T>(work: (client: Database.Database) => T): T | undefined {
    if (this.#client === null && !isThere(this.#path)) return undefined;
    return this.#guarded(() => work(this.#client ?? this.#open()));
  }

  /** Minutes of a day are not worth a repair: a broken file is removed, and the next write makes another. */
  #guarded<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!isBroken(error)) throw error;
      this.close();
      for (const end of ['', '-wal', '-shm']) if (isThere(this.#path + end)) unlinkFileNow(this.#path + end);
      return undefined;
    }
  }

  #open(): Database.Database {
    makeFolderNow(dirname(this.#path));
    const client = performingNow({ kind: 'create', path: this.#path }, () => new Database(this.#path));
    try {
      client.pragma('journal_mode = WAL');
      client.pragma('synchronous = NORMAL');
      client.pragma('secure_delete = ON');
      client.exec(TABLE);
    } catch (error) {
      client.close();
      throw error;
    }
    this.#client = client;
    return client;
  }
}

function isBroken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB');
}

function whole(sum: LoadSubject & LoadSum): LoadSubject & LoadSum {
  return { ...sum, measuredMs: Math.round(sum.measuredMs), cpuMs: Math.round(sum.cpuMs) };
}
