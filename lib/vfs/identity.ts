/**
 * The mark that tells a VFS file from every other, also from one of the same size and header: sixteen random bytes in
 * the row of the counter, written at birth and never copied. Knows nothing of who asks for it.
 */
import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

const COUNTER = "volume = '' AND path = '' AND kind = 'counter'";
const FORM = /^[0-9a-f]{32}$/;

/** A mark that no other file has: 32 digits of lower-case hex. */
export function newIdentity(): string {
  return randomBytes(16).toString('hex');
}

/**
 * The mark of an open file; null for one that has none yet (a copy that was never opened for writing, a file of an
 * earlier time or of the seed).
 */
export function identityOf(db: DatabaseSync, nodes: boolean): string | null {
  if (!nodes) return null;
  const target = db.prepare(`SELECT target FROM vfs_node WHERE ${COUNTER}`).get()?.target;
  return typeof target === 'string' && FORM.test(target) ? target : null;
}

/**
 * Gives an open file a mark, in a transaction of its own, unless it has one. The file is ready to be written (see
 * `prepareToWrite`) and no transaction is open. Returns its mark, or null when the file has no room for one: it is then
 * known by its hash alone.
 */
export function ensureIdentity(db: DatabaseSync): string | null {
  const known = identityOf(db, true);
  if (known !== null) return known;
  const identity = newIdentity();
  try {
    db.exec('BEGIN IMMEDIATE');
    db.prepare(
      `INSERT INTO vfs_node (volume, path, kind, version, target) SELECT '', '', 'counter', 0, ? WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET target = excluded.target`,
    ).run(identity);
    db.exec('COMMIT');
    return identity;
  } catch {
    if (db.isTransaction) db.exec('ROLLBACK');
    return null;
  }
}
