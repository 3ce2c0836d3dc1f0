/**
 * Presents a file that only this profile can read as the two tables of every VFS file, on a handle that reads: views of
 * their names in SQLite's temporary schema, over a list of what is there as of one moment. Contents are read when they
 * are asked for. Writes nothing to the file.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WinterdockError } from '../../base/errors.ts';
import { Statements } from '../../vfs/statements.ts';
import { MTIME, OWN_MTIME, SIZE, WITH_NODE } from '../../vfs/table-reader.ts';
import { VOLUMES, type Volume } from '../../vfs/volumes.ts';
import { Contents } from './contents.ts';
import { type WalkedEntry, type WalkedRest, walkFile } from './file-walk.ts';
import { isFileName } from './names.ts';
import { WHOLE_BYTES } from './tables.ts';

const LISTS = `CREATE TEMP TABLE native_row (id INTEGER PRIMARY KEY, volume TEXT NOT NULL, path TEXT NOT NULL, mtime INTEGER,
ino INTEGER, row INTEGER NOT NULL, base INTEGER NOT NULL, size INTEGER NOT NULL, UNIQUE (volume, path));
CREATE TEMP TABLE native_entry (volume TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, mode INTEGER, mtime INTEGER, size INTEGER,
row INTEGER, version INTEGER NOT NULL, target TEXT, PRIMARY KEY (volume, path)) WITHOUT ROWID`;
const VIEWS = `CREATE TEMP VIEW vfs AS SELECT id AS rowid, volume, path, native_content(id) AS content, mtime, size FROM temp.native_row;
CREATE TEMP VIEW vfs_node AS SELECT volume, path, kind, mode, mtime, size, row, version, target FROM temp.native_entry`;
const PUT_FILE = 'INSERT OR IGNORE INTO temp.native_row (volume, path, mtime, ino, row, base, size)';
const PUT_ENTRY =
  'INSERT OR IGNORE INTO temp.native_entry (volume, path, kind, mode, mtime, size, row, version, target)';
/** The chunks of no file: numbers of inodes never come so far. */
const NO_INO = 2 ** 32;
const NAMES = VOLUMES.map((volume) => `'${volume}'`).join(', ');

interface ContentRow {
  ino: number | null;
  row: number;
  base: number;
  size: number;
}

export class PresentedRows {
  readonly #statements: Statements;
  readonly #contents: Contents;
  /** True while a content is read: what reads it is ours, whoever asks. */
  isReading = false;
  /** Harmless to whoever may read the table of files. */
  readonly madeOf: ReadonlySet<string> = new Set(['native_row', 'native_content', 'native_part']);

  /**
   * Begins a read transaction and leaves it open: what is read later is of the same moment. With a `scope`, only what
   * is on the way to a path and directly in it is there. Throws `corrupt`.
   */
  constructor(db: DatabaseSync, scope: { volume: Volume; path: string } | null = null) {
    this.#statements = new Statements(db);
    this.#contents = new Contents(this.#statements);
    if (!db.isTransaction) db.exec('BEGIN');
    db.exec(LISTS);
    const place = scope && { volume: scope.volume, path: Buffer.from(scope.path === '/' ? '' : scope.path) };
    for (const found of walkFile(this.#statements, place)) {
      if ('from' in found) this.#listRest(found);
      else this.#list(found);
    }
    if (place === null) this.#listOdd();
    this.#statements.clear();
    db.function('native_content', { deterministic: false }, (id) => this.content(Number(id)));
    db.function('native_part', { deterministic: false }, (id, from, length) =>
      this.part(Number(id), Number(from) - 1, Number(length)),
    );
    db.exec(VIEWS);
  }

  /** The whole content of a row of the list. Throws `too_large` for one that no row could have. */
  content(id: number): Buffer {
    const row = this.#rowOf(id);
    return this.#read(row, 0, row.size);
  }

  /** `length` bytes from `offset` on, cut at the end of the file. Throws `too_large`. */
  part(id: number, offset: number, length: number): Buffer {
    const row = this.#rowOf(id);
    const from = Math.max(0, offset);
    return this.#read(row, from, Math.max(0, Math.min(row.size - from, length)));
  }

  #rowOf(id: number): ContentRow {
    const sql = `SELECT ino, row, base, size FROM temp.native_row WHERE id = ?`;
    return this.#reading(() => this.#statements.get<ContentRow>(sql, id)) ?? { ino: null, row: 0, base: 0, size: 0 };
  }

  #read({ ino, row, base, size }: ContentRow, offset: number, length: number): Buffer {
    if (length > WHOLE_BYTES)
      throw new WinterdockError('too_large', `A file of ${size} bytes can only be read in parts.`, {
        hint: `Ask for a range of it, of at most ${WHOLE_BYTES} bytes.`,
        extra: { limit: WHOLE_BYTES },
      });
    const bytes = Buffer.alloc(length);
    if (length === 0) return bytes;
    return this.#reading(() => {
      this.#contents.read({ ino: ino ?? NO_INO, contentRow: row, base, size }, offset, length, bytes, 0);
      return bytes;
    });
  }

  #reading<T>(read: () => T): T {
    const before = this.isReading;
    this.isReading = true;
    try {
      return read();
    } finally {
      this.isReading = before;
    }
  }

  #list({ volume, path, kind, mode, mtime, version, target, content }: WalkedEntry): void {
    let row: number | null = null;
    if (content !== null) {
      const { ino, base, size } = content;
      const sql = `${PUT_FILE} VALUES (?, CAST(? AS TEXT), ?, ?, ?, ?, ?)`;
      this.#statements.run(sql, volume, path, mtime, ino, content.row, base, size);
      row = this.#statements.get<{ id: number }>('SELECT last_insert_rowid() AS id')?.id ?? null;
    }
    this.#statements.run(
      `${PUT_ENTRY} VALUES (?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, CAST(? AS TEXT))`,
      ...[volume, path, kind, mode, mtime, content?.size ?? null, row, version, kind === 'link' ? target : null],
    );
  }

  #listRest({ volume, from, to }: WalkedRest): void {
    const range = [volume, Buffer.concat([from, SLASH]), Buffer.concat([from, AFTER_SLASH])];
    const within = (table: string) =>
      `${table}.volume = ? AND ${table}.path > CAST(? AS TEXT) AND ${table}.path < CAST(? AS TEXT)`;
    const moved = (column: string) => `CAST(? || CAST(substr(CAST(${column} AS BLOB), ?) AS TEXT) AS TEXT)`;
    const place = [to, from.length + 1];
    const large = (column: string) =>
      `(SELECT ${column} FROM native_inode WHERE content_row = v.rowid AND size > ${WHOLE_BYTES} ORDER BY nlink LIMIT 1)`;
    this.#statements.run(
      `${PUT_FILE} SELECT v.volume, ${moved('v.path')}, ${MTIME}, CASE WHEN v.content IS NULL THEN ${large('ino')} END, v.rowid, ${SIZE},
         ifnull(octet_length(v.content), ifnull(${large('size')}, 0)) FROM ${WITH_NODE} WHERE ${within('v')}`,
      ...[...place, ...range],
    );
    this.#statements.run(
      `${PUT_ENTRY} SELECT n.volume, ${moved('n.path')}, n.kind, n.mode, n.mtime, NULL, NULL, n.version, n.target
       FROM main.vfs_node n WHERE n.kind IN ('dir', 'link') AND ${within('n')}`,
      ...[...place, ...range],
    );
    this.#statements.run(
      `${PUT_ENTRY} SELECT r.volume, r.path, 'file', n.mode, r.mtime, r.size, r.id,
         CASE WHEN n.row = r.row AND n.size = r.base THEN n.version ELSE r.mtime * 1000000 END, NULL
       FROM main.vfs_node n JOIN main.vfs v ON v.volume = n.volume AND v.path = n.path JOIN temp.native_row r ON r.volume = n.volume
         AND r.path = ${moved('n.path')} WHERE n.kind = 'file' AND ${within('n')}`,
      ...[...place, ...range],
    );
  }

  /** Rows of other tools whose path no file can have: this profile leaves them where they are. */
  #listOdd(): void {
    const rows = this.#statements.all<{ row: number; path: Uint8Array | null; isKnown: number }>(
      `SELECT rowid AS row, CAST(path AS BLOB) AS path, volume IN (${NAMES}) AS isKnown FROM main.vfs NOT INDEXED
       WHERE volume <> '' AND (volume NOT IN (${NAMES}) OR path NOT GLOB '/*' OR path GLOB '*//*' OR path GLOB '*/' OR path GLOB '*/.*'
         OR octet_length(path) > 255)`,
    );
    for (const { row, path, isKnown } of rows) {
      if (isKnown !== 0 && isPath(Buffer.from(path ?? []))) continue;
      const sql = `${PUT_FILE} SELECT volume, path, ${OWN_MTIME}, NULL, rowid, ${SIZE}, ${SIZE} FROM main.vfs v WHERE rowid = ?`;
      this.#statements.run(sql, row);
    }
  }
}

/** The SQL to ask an open file with, of which it is not known whether its rows are presented. */
export function sqlFor(db: DatabaseSync, sql: string): string {
  const isPresented = db.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = 'native_row'").get() !== undefined;
  return isPresented ? presentedSql(sql) : sql;
}

/**
 * The statement of a reader, for a file whose rows are presented: sizes and parts are had without reading contents.
 */
export function presentedSql(sql: string): string {
  return sql
    .replaceAll(/octet_length\((v\.)?content\)/g, '$1size')
    .replaceAll('substr(CAST(content AS BLOB), ?, ?)', 'native_part(rowid, ?, ?)');
}

const SLASH = Buffer.from('/');
const AFTER_SLASH = Buffer.from('0');

function isPath(path: Buffer): boolean {
  const names = path.toString('latin1').split('/');
  return names.length > 1 && names[0] === '' && names.slice(1).every((name) => isFileName(Buffer.from(name, 'latin1')));
}
