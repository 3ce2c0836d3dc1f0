/**
 * Recovers what is readable of a damaged VFS file: writes it to a new, sound file, with a list of what is lost – by
 * name wherever an index or a table still has the name. Runs in a process of its own; knows nothing of sandboxes.
 *
 * Names come from the index of the primary key and from the second table, contents from the first table, each read page
 * by page (sqlite-pages.ts). A file is recovered when its row and every page of its content are intact. SQLite keeps no
 * checksum of contents, so wrong bytes in intact pages go unnoticed.
 */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createFileNow, syncFileNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { foldCopy, NativeMarks } from '../native/file/salvaged-rows.ts';
import { OPTIONS, openRestingFile } from './handles.ts';
import { parseVfsPath } from './paths.ts';
import { createTables } from './schema.ts';
import { corruptFile } from './sqlite-errors.ts';
import { type PageRecord, SqlitePages, UnreadablePage } from './sqlite-pages.ts';
import { VOLUME_CONTRACTS, VOLUMES, type Volume } from './volumes.ts';

/** One thing that could not be recovered; without a path when not even its name is left. */
interface Lost {
  volume: Volume | null;
  path: string | null;
  why: string;
}

export interface SalvageResult {
  /** Number of recovered files, and their bytes. */
  recovered: number;
  recoveredBytes: number;
  /** The first of the losses; the whole list is in the new file, under `list`. */
  lost: Lost[];
  lostCount: number;
  /** The path of the list in the volume `memory`; null when nothing was lost. */
  list: string | null;
  /** Hash and size of the new file. */
  sha256: string;
  bytes: number;
}

export interface SalvageOptions {
  /** Size limits in bytes: of the new file, and of one content in it. */
  maxBytes: number;
  maxFileBytes: number;
  /** The expected identity of the damaged file; null when it is not known. */
  identity: string | null;
  /** The log beside the file belongs to it: it is replayed first, which changes the file. */
  withLog: boolean;
}

interface SalvagedAddress {
  volume: Volume;
  path: string;
}

/** Number of losses that an answer holds. */
const LOST_SHOWN = 1000;
/** Largest size in bytes of the list in the new file. */
const LIST_BYTES = 8 * 1024 * 1024;
/** Volumes that do not survive a resume are not recovered: they would be cleared at once. */
const KEPT: readonly Volume[] = VOLUMES.filter((volume) => VOLUME_CONTRACTS[volume].survivesResume);
const NODE_COLUMNS = 9;
/** Approximate bytes of a row beside its content: names, numbers, its place in an index. */
const ROW_BYTES = 400;
const LAST_MODE = 0o7777;

/**
 * Writes what is readable of `source` into a new file at `target`, synced to disk when this resolves. `source` must be
 * a copy that nobody else uses. Throws `corrupt` when no database is left, and `conflict` when it is another sandbox's
 * file.
 */
export async function salvageVfs(source: string, target: string, options: SalvageOptions): Promise<SalvageResult> {
  const logLost = options.withLog && !takeUpLog(source);
  if (isNativeOnly(source)) foldCopy(source);
  createFileNow(target);
  const db = new DatabaseSync(target, OPTIONS);
  let found: Omit<SalvageResult, 'sha256' | 'bytes'>;
  try {
    db.exec(
      'PRAGMA page_size = 4096; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY',
    );
    found = new Salvage(db, options).run(source, logLost);
  } finally {
    db.close();
  }
  syncFileNow(target);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(target)) hash.update(chunk);
  return { ...found, sha256: hash.digest('hex'), bytes: statSync(target).size };
}

/** Lets SQLite replay the log beside a copy. False when it cannot: the contents of the log are then lost. */
function takeUpLog(file: string): boolean {
  try {
    const db = new DatabaseSync(file, OPTIONS);
    try {
      db.prepare('SELECT count(*) FROM sqlite_schema').get();
      return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}

/** Whether real programs had changes in a file that its rows lack, as far as it can be read. */
function isNativeOnly(file: string): boolean {
  try {
    const { db, schema } = openRestingFile(file);
    db.close();
    return schema.isNativeOnly;
  } catch {
    return false;
  }
}

class Salvage {
  readonly #db: DatabaseSync;
  readonly #options: SalvageOptions;
  readonly #marks = new NativeMarks();
  #bytes = 0;

  constructor(db: DatabaseSync, options: SalvageOptions) {
    this.#db = db;
    this.#options = options;
  }

  run(source: string, logLost: boolean): Omit<SalvageResult, 'sha256' | 'bytes'> {
    const db = this.#db;
    db.exec('BEGIN');
    createTables(db, true);
    db.exec(`DELETE FROM vfs_node;
      CREATE TEMP TABLE names (volume TEXT, path TEXT, row INTEGER, PRIMARY KEY (volume, path)) WITHOUT ROWID;
      CREATE TEMP TABLE lost (volume TEXT, path TEXT, why TEXT)`);
    const pages = open(source);
    try {
      this.#readNames(pages);
      if (pages.understood === 0) throw corruptFile('nothing of a database is left of it');
      this.#readMarks(pages);
      this.#readFiles(pages);
      this.#tidy();
      this.#tellLost(pages.unread, logLost);
    } finally {
      pages.close();
    }
    const list = this.#keepList();
    const { count, bytes } = one(db, 'SELECT count(*) AS count, total(octet_length(content)) AS bytes FROM vfs');
    const lost = db
      .prepare(`SELECT volume, path, why FROM lost ORDER BY path IS NULL, volume, path LIMIT ${LOST_SHOWN}`)
      .all();
    const { lostCount } = one(db, 'SELECT count(*) AS lostCount FROM lost');
    db.exec(`INSERT INTO vfs_node (volume, path, kind, version)
      SELECT '', '', 'counter', ifnull(max(version), 0) FROM vfs_node`);
    db.exec('COMMIT');
    return {
      // The list itself does not count as a recovered file.
      recovered: (count ?? 0) - (list === null ? 0 : 1),
      recoveredBytes: (bytes ?? 0) - (list?.bytes ?? 0),
      lost: lost as unknown as Lost[],
      lostCount: lostCount ?? 0,
      list: list?.path ?? null,
    };
  }

  /** The names in the index and in the second table, and the rows of the second table. */
  #readNames(pages: SqlitePages): void {
    const name = this.#db.prepare(
      'INSERT INTO temp.names VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET row = ifnull(row, excluded.row)',
    );
    const node = this.#db.prepare(
      'INSERT OR IGNORE INTO vfs_node (volume, path, kind, mode, mtime, size, row, version, target) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    for (const record of pages.indexes()) {
      if (record.columns !== 3 && record.columns !== NODE_COLUMNS) continue;
      const values = valuesOf(record);
      if (values === null) continue;
      const [volume, path, third] = values;
      if (record.columns === NODE_COLUMNS && volume === '' && third === 'counter') this.#refuseOther(values[8]);
      const place = recoverableAddress(volume, path);
      if (place === null) continue;
      if (record.columns === 3 && typeof third === 'number') name.run(place.volume, place.path, third);
      if (record.columns !== NODE_COLUMNS || !isNode(values)) continue;
      node.run(...(values as (string | number | null)[]));
      if (third === 'file') name.run(place.volume, place.path, null);
    }
  }

  #readMarks(pages: SqlitePages): void {
    for (const record of pages.tables()) {
      try {
        this.#marks.see(record);
      } catch (error) {
        if (!(error instanceof UnreadablePage)) throw error;
      }
    }
  }

  #refuseOther(mark: unknown): void {
    const { identity } = this.#options;
    if (identity === null || typeof mark !== 'string' || mark === identity) return;
    throw new WinterdockError('conflict', 'The file that lies there is another sandbox’s: nothing of it was taken.', {
      hint: 'Download its raw file to see what it is, or restore a snapshot in place.',
    });
  }

  #readFiles(pages: SqlitePages): void {
    const named = this.#db.prepare('SELECT row FROM temp.names WHERE volume = ? AND path = ?');
    const put = this.#db.prepare('INSERT OR IGNORE INTO vfs (volume, path, content, mtime) VALUES (?, ?, ?, ?)');
    const lose = this.#db.prepare('INSERT INTO temp.lost VALUES (?, ?, ?)');
    for (const record of pages.tables()) {
      const place = record.columns === 4 ? readAddress(record) : null;
      const row = place === null ? undefined : named.get(place.volume, place.path)?.row;
      // An earlier row of that name takes precedence. When it is unknown which rows were deleted, only names that an
      // index has are taken.
      const counts = typeof row === 'number' ? row === record.rowid : row === null || pages.freeKnown || record.named;
      if (place === null || !counts) {
        record.pass();
        continue;
      }
      const refusal = this.#refusal(record);
      if (refusal !== null) record.pass();
      const why = refusal ?? this.#put(put, place, record);
      if (why !== null) lose.run(place.volume, place.path, why);
    }
  }

  /** The reason why a file is not written, before its content is read; null when there is none. */
  #refusal(record: PageRecord): string | null {
    const large = record.size(2) === 0 ? this.#marks.largeSize(record.rowid) : null;
    if (large !== null) return `it has ${large} bytes, which only real programs can have in one file`;
    const size = record.size(2);
    const { maxBytes, maxFileBytes } = this.#options;
    if (size > maxFileBytes) return `it is larger than ${maxFileBytes} bytes`;
    // Rows and indexes take room beside the contents, and the list of losses must still fit.
    return this.#bytes + size + ROW_BYTES > maxBytes - Math.min(LIST_BYTES, maxBytes / 8)
      ? 'there is no room for it'
      : null;
  }

  /** Writes one file. Returns the reason when it cannot be written, else null. */
  #put(put: ReturnType<DatabaseSync['prepare']>, { volume, path }: SalvagedAddress, record: PageRecord): string | null {
    try {
      const content = record.value(2);
      const mtime = record.value(3);
      const text = typeof content === 'number' ? String(content) : content;
      put.run(volume, path, text, typeof mtime === 'number' ? Math.trunc(mtime) : null);
      this.#bytes += record.size(2) + ROW_BYTES;
      return null;
    } catch (error) {
      if (error instanceof UnreadablePage) return `its content cannot be read: ${error.message}`;
      throw error;
    }
  }

  /** Drops what is inconsistent: second-table rows of lost files, and files below another file. */
  #tidy(): void {
    this.#db.exec(`DELETE FROM vfs_node WHERE kind = 'file' AND NOT EXISTS (
        SELECT 1 FROM vfs WHERE vfs.volume = vfs_node.volume AND vfs.path = vfs_node.path);
      DELETE FROM vfs_node WHERE kind <> 'file' AND EXISTS (
        SELECT 1 FROM vfs WHERE vfs.volume = vfs_node.volume AND vfs.path = vfs_node.path)`);
    // With this join order, each file is one index search for its descendants.
    const below = `SELECT below.rowid FROM vfs AS above CROSS JOIN vfs AS below ON below.volume = above.volume
      AND below.path > above.path || '/' AND below.path < above.path || '0'`;
    this.#db.exec(`INSERT INTO temp.lost SELECT volume, path, 'it lies below another file' FROM vfs WHERE rowid IN (${below});
      DELETE FROM vfs WHERE rowid IN (${below});
      DELETE FROM vfs_node WHERE (volume, path) IN (SELECT node.volume, node.path FROM vfs AS above
        CROSS JOIN vfs_node AS node ON node.volume = above.volume AND node.path > above.path || '/' AND node.path < above.path || '0');
      DELETE FROM vfs_node WHERE kind = 'file' AND NOT EXISTS (
        SELECT 1 FROM vfs WHERE vfs.volume = vfs_node.volume AND vfs.path = vfs_node.path)`);
  }

  /** Lists names without a file, and losses without a name. */
  #tellLost(unread: number, logLost: boolean): void {
    this.#db.exec(`DELETE FROM temp.lost WHERE EXISTS (SELECT 1 FROM vfs WHERE vfs.volume = lost.volume AND vfs.path = lost.path);
      INSERT INTO temp.lost SELECT volume, path, 'its content cannot be read' FROM temp.names WHERE NOT EXISTS (
        SELECT 1 FROM vfs WHERE vfs.volume = names.volume AND vfs.path = names.path) AND NOT EXISTS (
        SELECT 1 FROM temp.lost WHERE lost.volume = names.volume AND lost.path = names.path)`);
    const lose = this.#db.prepare('INSERT INTO temp.lost VALUES (NULL, NULL, ?)');
    if (unread > 0) {
      lose.run(
        `${unread} ${unread === 1 ? 'page' : 'pages'} of the file cannot be read: what was in them is named above, or is not known`,
      );
    }
    if (this.#marks.isAwake)
      lose.run('what real programs changed last cannot be read: files may be as they were before');
    if (logLost) lose.run('the log beside the file cannot be read: what was last written is in it');
  }

  /** Writes the whole list into the new file, as JSON lines. Returns null when nothing is lost. */
  #keepList(): { path: string; bytes: number } | null {
    const lines: string[] = [];
    let bytes = 0;
    for (const lost of this.#db
      .prepare('SELECT volume, path, why FROM temp.lost ORDER BY path IS NULL, volume, path')
      .iterate()) {
      const line = `${JSON.stringify(lost)}\n`;
      if (bytes + line.length * 3 > Math.min(LIST_BYTES, this.#options.maxFileBytes)) break;
      bytes += Buffer.byteLength(line);
      lines.push(line);
    }
    if (lines.length === 0) return null;
    const taken = this.#db.prepare("SELECT 1 FROM vfs WHERE volume = 'memory' AND (path = ? OR path LIKE ? || '/%')");
    let path = '/lost-by-salvage.jsonl';
    for (let n = 1; taken.get(path, path) !== undefined; n += 1) path = `/lost-by-salvage-${n}.jsonl`;
    this.#db
      .prepare("INSERT INTO vfs (volume, path, content, mtime) VALUES ('memory', ?, ?, ?)")
      .run(path, Buffer.from(lines.join('')), Math.floor(Date.now() / 1000));
    return { path, bytes };
  }
}

function open(source: string): SqlitePages {
  try {
    return new SqlitePages(source);
  } catch (error) {
    if (error instanceof UnreadablePage) throw corruptFile(error.message, error);
    throw error;
  }
}

/** Volume and path of a row of the first table; null when they cannot be read or are invalid. */
function readAddress(record: PageRecord): SalvagedAddress | null {
  try {
    return recoverableAddress(record.value(0), record.value(1));
  } catch (error) {
    if (error instanceof UnreadablePage) return null;
    throw error;
  }
}

function valuesOf(record: PageRecord): unknown[] | null {
  try {
    return Array.from({ length: record.columns }, (_, column) => record.value(column));
  } catch (error) {
    if (error instanceof UnreadablePage) return null;
    throw error;
  }
}

/** Parses a volume and a path. Null for a volume that is not recovered and for an invalid path. */
function recoverableAddress(volume: unknown, path: unknown): SalvagedAddress | null {
  const kept = KEPT.find((one) => one === volume);
  if (kept === undefined || typeof path !== 'string') return null;
  try {
    return parseVfsPath(path) === path && path !== '/' ? { volume: kept, path } : null;
  } catch {
    // What has no valid path cannot be recovered. Its page was readable, and this product never writes such a path.
    return null;
  }
}

/** True when the values are a row of the second table: a file, a directory or a link. */
function isNode([, , kind, mode, mtime, size, row, version, target]: unknown[]): boolean {
  const isNumber = (value: unknown) => value === null || (typeof value === 'number' && Number.isInteger(value));
  return (
    (kind === 'file' || kind === 'dir' || (kind === 'link' && typeof target === 'string')) &&
    [mode, mtime, size, row].every(isNumber) &&
    (mode === null || (Number(mode) >= 0 && Number(mode) <= LAST_MODE)) &&
    typeof version === 'number' &&
    Number.isInteger(version) &&
    version >= 0 &&
    (target === null || typeof target === 'string')
  );
}

function one(db: DatabaseSync, sql: string): Record<string, number | undefined> {
  return (db.prepare(sql).get() ?? {}) as Record<string, number | undefined>;
}
