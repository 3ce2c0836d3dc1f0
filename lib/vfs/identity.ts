/**
 * The identity of a VFS file: sixteen random bytes in the row of the counter, written when the file is created and
 * never copied. It tells the file from every other, even one of the same size and header. Must not know its users.
 */
import type { DatabaseSync } from 'node:sqlite';

const COUNTER = "volume = '' AND path = '' AND kind = 'counter'";
const FORM = /^[0-9a-f]{32}$/;

/**
 * SQL for a new identity: 32 digits of lower-case hex, from SQLite's generator, which the system's
 * randomness seeds. Node's crypto would cost every worker's start 10 ms of processor time.
 */
export const NEW_IDENTITY = 'lower(hex(randomblob(16)))';

/**
 * The identity of an open file. Null for a file without one: a copy that was never opened for writing, a file of an
 * older version, or a seed file.
 */
export function identityOf(db: DatabaseSync, nodes: boolean): string | null {
  if (!nodes) return null;
  const target = db.prepare(`SELECT target FROM main.vfs_node WHERE ${COUNTER}`).get()?.target;
  return typeof target === 'string' && FORM.test(target) ? target : null;
}

/**
 * Gives an open file an identity, in its own transaction, unless it has one. The file must be ready for writing (see
 * `prepareToWrite`), with no transaction open. Returns the identity, or null when the file has no room for one; such a
 * file is recognised by its hash alone.
 */
export function ensureIdentity(db: DatabaseSync): string | null {
  const known = identityOf(db, true);
  if (known !== null) return known;
  try {
    db.exec('BEGIN IMMEDIATE');
    db.exec(
      `INSERT INTO vfs_node (volume, path, kind, version, target) SELECT '', '', 'counter', 0, ${NEW_IDENTITY} WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET target = excluded.target`,
    );
    const identity = identityOf(db, true);
    db.exec('COMMIT');
    return identity;
  } catch {
    if (db.isTransaction) db.exec('ROLLBACK');
    return null;
  }
}
