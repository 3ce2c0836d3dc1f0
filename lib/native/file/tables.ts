/**
 * The tables of the native profile, beside the two of every VFS file, and the check of their declarations. Owns this
 * DDL; knows nothing of files.
 *
 * While a file is awake these tables are what is true, and the seed's table is where contents lie that nobody has
 * changed. At rest they only add to it: what it cannot hold.
 */
import type { DatabaseSync } from 'node:sqlite';
import { corruptFile } from '../../vfs/sqlite-errors.ts';

/** Contents are stored in pieces of this many bytes. */
export const FILE_CHUNK_BYTES = 65_536;
/** A chunk's row id is the inode's number times this, and its place in the file. */
export const CHUNKS_PER_FILE = 2 ** 20;
/** Larger files have no content in the seed's table: their chunks stay at rest too. */
export const WHOLE_BYTES = 64 * 1024 * 1024;

const TABLES = [
  `CREATE TABLE native_state (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, awake INTEGER NOT NULL,
next_ino INTEGER NOT NULL, next_link INTEGER NOT NULL, used INTEGER NOT NULL)`,
  `CREATE TABLE native_inode (ino INTEGER PRIMARY KEY, kind INTEGER NOT NULL, mode INTEGER NOT NULL, nlink INTEGER NOT NULL,
size INTEGER NOT NULL, atime INTEGER NOT NULL, atime_ns INTEGER NOT NULL, mtime INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
ctime INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, target BLOB, content_row INTEGER NOT NULL, base INTEGER NOT NULL,
charge INTEGER NOT NULL, stale INTEGER NOT NULL, session INTEGER NOT NULL)`,
  'CREATE INDEX native_inode_stale ON native_inode (ino) WHERE stale <> 0',
  'CREATE INDEX native_inode_nameless ON native_inode (ino) WHERE nlink = 0',
  `CREATE INDEX native_inode_large ON native_inode (content_row) WHERE size > ${WHOLE_BYTES}`,
  `CREATE TABLE native_link (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL, ino INTEGER NOT NULL,
origin BLOB, version INTEGER)`,
  'CREATE UNIQUE INDEX native_link_name ON native_link (parent, name)',
  'CREATE INDEX native_link_order ON native_link (parent, id)',
  'CREATE INDEX native_link_ino ON native_link (ino)',
  'CREATE INDEX native_link_moved ON native_link (origin) WHERE origin IS NOT NULL',
  'CREATE TABLE native_chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL)',
  `CREATE TABLE native_xattr (ino INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,
PRIMARY KEY (ino, name)) WITHOUT ROWID`,
];

const OWNERS = new Set(['native_state', 'native_inode', 'native_link', 'native_chunk', 'native_xattr']);

/**
 * Declared while the two tables of every VFS file are not enough to read it: while it is awake, and at rest where a
 * file is larger than a row may be. Whatever knows nothing of it refuses a file that declares a view, and changes
 * nothing.
 */
export const NATIVE_ONLY = { name: 'native_only', sql: 'CREATE VIEW native_only AS SELECT 1 AS native' };

/** Numbers of inodes that every file has: the root, which holds the three volumes, and these. */
export const ROOT_INO = 1;
export const VOLUME_INOS = { workspace: 2, memory: 3, tmp: 4 } as const;
const DIRECTORY_KIND = 0o040000;
const FILE_KIND = 0o100000;
/** The first number of an inode, and of a link, that is given away. */
export const FIRST_FREE = 16;

/** What a file declares of this profile, as `sqlite_schema` has it: names in lower case. */
interface DeclaredObject {
  type: unknown;
  name: unknown;
  owner: unknown;
  sql: unknown;
}

/** Whether an object is one of these tables, or on one of them. */
export function isOfNativeTables({ owner }: DeclaredObject): boolean {
  return OWNERS.has(String(owner));
}

/** Whether it is the view, declared in exactly this way. */
export function isNativeOnly({ type, name, sql }: DeclaredObject): boolean {
  return type === 'view' && name === NATIVE_ONLY.name && sql === NATIVE_ONLY.sql;
}

/**
 * Throws `corrupt` where some of these tables are missing, or declared in another way: nothing that a file declares is
 * ever run. `objects`: those that are of these tables.
 */
export function inspectNativeTables(objects: readonly DeclaredObject[]): void {
  const declared = objects.map(({ sql }) => String(sql)).toSorted();
  const isWhole = declared.length === TABLES.length && TABLES.toSorted().every((sql, at) => sql === declared[at]);
  if (!isWhole) throw corruptFile('its native tables are declared in another way');
}

/** Whether the file has these tables. */
export function hasNativeTables(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'native_state' AND type = 'table'").get() !== undefined;
}

/** Makes these tables in a file that has only the two of every VFS file. The caller is in a transaction. */
export function beginNativeTables(db: Pick<DatabaseSync, 'exec' | 'prepare'>): void {
  db.exec(TABLES.join(';\n'));
  db.prepare('INSERT INTO native_state VALUES (1, 0, 0, ?, ?, 0)').run(FIRST_FREE, FIRST_FREE);
  const volume = db.prepare(
    `INSERT INTO native_inode VALUES (?, ${DIRECTORY_KIND}, 493, 2, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0)`,
  );
  for (const ino of Object.values(VOLUME_INOS)) volume.run(ino);
}

/**
 * Notes in a file at rest that a row without content is a large file, and returns the number under which its chunks go.
 * Its name is the row's: it is taken up when that is looked for. The caller is in a transaction.
 */
export function putLargeFile(
  db: DatabaseSync,
  { row, size, mode, mtime, charge }: { row: number; size: number; mode: number; mtime: number; charge: number },
): number {
  if (!hasNativeTables(db)) {
    beginNativeTables(db);
    db.exec(NATIVE_ONLY.sql);
  }
  const ino = Number(db.prepare('SELECT next_ino FROM native_state').get()?.next_ino);
  db.prepare(`INSERT INTO native_inode VALUES (?, ${FILE_KIND}, ?, 0, ?, ?, 0, ?, 0, ?, 0, NULL, ?, 0, ?, 0, 0)`).run(
    ino,
    mode,
    size,
    mtime,
    mtime,
    mtime,
    row,
    charge,
  );
  db.prepare('UPDATE native_state SET next_ino = ?').run(ino + 1);
  return ino;
}
