/** Whether what a call has changed still fits into the folders that others have committed meanwhile. */
import type { VfsPath } from './paths.ts';
import type { Statements } from './statements.ts';
import type { TableReader } from './table-reader.ts';
import { conflict } from './tree-errors.ts';
import type { VfsAddress } from './types.ts';
import type { Volume } from './volumes.ts';

interface Committed {
  statements: Statements;
  rows: TableReader;
  /** The directories above what the call has changed. */
  above: ReadonlyMap<Volume, ReadonlySet<VfsPath>>;
}

/** Throws `conflict` when a file or link of others is now an ancestor of a path that the call has changed. */
export function requireTree(call: number, { statements, rows, above }: Committed): void {
  const below = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} b WHERE b.volume = c.volume AND b.path > c.path || '/' AND b.path < c.path || '0')`;
  const sql = `SELECT c.volume, c.path FROM pending.changed_path c
    WHERE c.call = ? AND c.kind IN ('file', 'link') AND (${below('vfs')} OR ${below('vfs_node')}) LIMIT 1`;
  const blocked = statements.get<VfsAddress>(sql, call);
  if (blocked)
    throw conflict(
      blocked,
      'was made a directory while a command made it a file; nothing that it wrote since the last commit is kept',
    );
  for (const [volume, directories] of above) {
    const blocker = rows.blocker(volume, [...directories]);
    if (blocker === null) continue;
    throw conflict(
      { volume, path: blocker.path },
      'was made a file while a command wrote below it; nothing that it wrote since the last commit is kept',
    );
  }
}
