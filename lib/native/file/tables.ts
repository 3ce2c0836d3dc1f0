/**
 * The tables of the native profile, beside the two of every VFS file, and the check of their declarations. Owns this
 * DDL; knows nothing of files.
 *
 * While a file is awake these tables are what is true, and the seed's table is where contents lie that nobody has
 * changed. At rest they only add to it: what it cannot hold.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { DeclaredView } from '../../vfs/schema.ts';
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

/**
 * Declared while only this profile can read the file: while it is awake, and at rest where a file is larger than a row
 * may be. Whatever knows nothing of it refuses a file that declares a view, and changes nothing.
 */
export const NATIVE_ONLY: DeclaredView = { name: 'native_only', sql: 'CREATE VIEW native_only AS SELECT 1 AS native' };

/** Numbers of inodes that every file has: the root, which holds the three volumes, and these. */
export const ROOT_INO = 1;
export const VOLUME_INOS = { workspace: 2, memory: 3, tmp: 4 } as const;
/** The first number of an inode, and of a link, that is given away. */
export const FIRST_FREE = 16;

/** Makes the tables where there are none. The caller is in a transaction. */
export function createNativeTables(db: DatabaseSync): void {
  db.exec(TABLES.join(';\n'));
}

/**
 * Throws `corrupt` for any object of these tables that is declared in another way: nothing that a file declares is ever
 * run. Changes nothing.
 */
export function inspectNativeTables(db: DatabaseSync): void {
  const rows = db
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name LIKE 'native\\_%' ESCAPE '\\' AND type <> 'view' AND sql IS NOT NULL",
    )
    .all();
  if (rows.length === 0) return;
  const declared = rows.map(({ sql }) => String(sql)).toSorted();
  const isWhole = declared.length === TABLES.length && TABLES.toSorted().every((sql, at) => sql === declared[at]);
  if (!isWhole) throw corruptFile('its native tables are declared in another way');
}

/** Whether the file has these tables. */
export function hasNativeTables(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'native_state' AND type = 'table'").get() !== undefined;
}
