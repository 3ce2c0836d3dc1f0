/**
 * The statements that write, and the versions they assign. Owns what is stored in the second table; checks nothing:
 * callers have checked, and run inside a transaction.
 *
 * Rows are written by `INSERT … SELECT`: SQLite gives such a statement its own journal, so a full file undoes the
 * statement alone. A plain INSERT would undo the whole transaction, including savepoints.
 */
import type { Clock } from '../base/clock.ts';
import { epochSeconds } from '../base/clock.ts';
import { NEW_IDENTITY } from './identity.ts';
import { subtreeOf, type VfsPath } from './paths.ts';
import { FULL, resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';
import { OWN_MTIME, SIZE, WITH_NODE } from './table-reader.ts';
import type { TreeWriter } from './tree.ts';
import type { VfsAddress, VfsEntry, VfsStat } from './types.ts';
import type { Volume } from './volumes.ts';

const NODE_COLUMNS = '(volume, path, kind, mode, mtime, size, row, version, target)';

/**
 * Contents stored outside the row's own page. They are freed before they are replaced, so that there need not be room
 * for both.
 */
const OVERFLOW_BYTES = 4096;

export class TableWriter implements TreeWriter {
  readonly #statements: Statements;
  readonly #clock: Clock;
  /** The last assigned version; 0 before the stored one was read. */
  #last = 0;
  #counterStored = true;

  constructor(statements: Statements, clock: Clock) {
    this.#statements = statements;
    this.#clock = clock;
  }

  /**
   * A version above all earlier ones and above `current`. It follows the clock in microseconds, so that versions stay
   * above those derived from other tools' times, and a file restored from an older copy does not repeat one.
   */
  nextVersion(current: number): number {
    if (this.#last === 0) {
      const row = this.#statements.get<{ version: number }>(
        "SELECT version FROM vfs_node WHERE volume = '' AND path = ''",
      );
      this.#last = row?.version ?? 0;
    }
    this.#last = Math.max(this.#last + 1, current + 1, this.#clock.now() * 1000);
    this.#counterStored = false;
    return this.#last;
  }

  /** Another handle may have stored a later version: the stored one is read again. */
  forgetCounter(): void {
    this.#last = 0;
  }

  /**
   * Stores the last assigned version, if it is new; called before every commit. Gives a file without an identity one.
   */
  storeCounter(): void {
    if (this.#counterStored) return;
    this.#statements.run(
      `INSERT INTO vfs_node ${NODE_COLUMNS} SELECT '', '', 'counter', NULL, NULL, NULL, NULL, ?, ${NEW_IDENTITY} WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET version = excluded.version, target = ifnull(target, excluded.target)`,
      this.#last,
    );
    this.#counterStored = true;
  }

  putFile(volume: Volume, path: VfsPath, content: Uint8Array, current: VfsEntry | null, mode: number | null): VfsStat {
    const mtime = epochSeconds(this.#clock);
    const version = this.nextVersion(current?.version ?? 0);
    if (current && current.size > OVERFLOW_BYTES && current.size !== content.byteLength) {
      this.#statements.run('UPDATE vfs SET content = NULL WHERE volume = ? AND path = ?', volume, path);
    }
    this.#statements.run(
      `INSERT INTO vfs (volume, path, content, mtime) SELECT ?, ?, ifnull(?, x''), ? WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET content = excluded.content, mtime = excluded.mtime`,
      volume,
      path,
      content,
      mtime,
    );
    this.recordFiles(volume, path, false, version, mode);
    return { path, size: content.byteLength, mtime, version };
  }

  /**
   * Records in the second table what the first table now holds at `path` (or everywhere below it), with `version`; a
   * null `mode` keeps the mode.
   */
  recordFiles(volume: Volume, path: VfsPath, below: boolean, version: number, mode: number | null): void {
    const range = subtreeOf(path);
    this.#statements.run(
      `INSERT INTO vfs_node ${NODE_COLUMNS}
       SELECT v.volume, v.path, 'file', ifnull(?, n.mode), ${OWN_MTIME}, ${SIZE}, v.rowid, ?, NULL FROM ${WITH_NODE}
       WHERE v.volume = ? AND ${below ? 'v.path > ? AND v.path < ?' : 'v.path = ?'}
       ON CONFLICT(volume, path) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, mtime = excluded.mtime,
         size = excluded.size, row = excluded.row, version = excluded.version, target = excluded.target`,
      mode,
      version,
      volume,
      ...(below ? [range.above, range.below] : [path]),
    );
  }

  setAttributes(volume: Volume, path: VfsPath, current: VfsEntry, mode: number, mtimeSeconds: number | null): void {
    if (current.kind === 'file') {
      if (mtimeSeconds !== null) {
        this.#statements.run('UPDATE vfs SET mtime = ? WHERE volume = ? AND path = ?', mtimeSeconds, volume, path);
      }
      this.recordFiles(volume, path, false, current.version, mode);
      return;
    }
    const version = this.nextVersion(0);
    this.#upsert(volume, path, current.kind, mode, mtimeSeconds ?? current.mtime, version, current.target);
  }

  putDirectory(volume: Volume, path: VfsPath, mode: number | null, explicit: boolean): void {
    try {
      this.#upsert(volume, path, 'dir', mode, epochSeconds(this.#clock), this.nextVersion(0), null);
    } catch (error) {
      // A full sandbox must still be able to delete. Without this row only the empty directory is lost.
      if (explicit || resultCodeOf(error) !== FULL || !this.#statements.inTransaction) throw error;
    }
  }

  putLink(volume: Volume, path: VfsPath, target: string): void {
    this.#upsert(volume, path, 'link', null, epochSeconds(this.#clock), this.nextVersion(0), target);
  }

  /** Removes the row of exactly this path. */
  remove(volume: Volume, path: VfsPath): void {
    this.#statements.run('DELETE FROM vfs WHERE volume = ? AND path = ?', volume, path);
    this.#statements.run('DELETE FROM vfs_node WHERE volume = ? AND path = ?', volume, path);
  }

  removeBelow(volume: Volume, path: VfsPath): void {
    const { above, below } = subtreeOf(path);
    this.#statements.run('DELETE FROM vfs WHERE volume = ? AND path > ? AND path < ?', volume, above, below);
    this.#statements.run('DELETE FROM vfs_node WHERE volume = ? AND path > ? AND path < ?', volume, above, below);
  }

  clear(volume: Volume): void {
    this.#statements.run('DELETE FROM vfs WHERE volume = ?', volume);
    this.#statements.run('DELETE FROM vfs_node WHERE volume = ?', volume);
  }

  /**
   * Renames the entry at `from` and all its descendants. There must be nothing at `to`; stale rows of the second table
   * there are dropped. `replaced` is the version of the former entry at `to`, 0 for none.
   */
  rename(from: VfsAddress, to: VfsAddress, directory: boolean, replaced: number): void {
    const version = this.nextVersion(replaced);
    const moves: [where: string, values: string[]][] = [['path = ?', [from.path]]];
    this.#statements.run('DELETE FROM vfs_node WHERE volume = ? AND path = ?', to.volume, to.path);
    if (directory) {
      const source = subtreeOf(from.path);
      const target = subtreeOf(to.path);
      this.#statements.run(
        'DELETE FROM vfs_node WHERE volume = ? AND path > ? AND path < ?',
        to.volume,
        target.above,
        target.below,
      );
      moves.push(['path > ? AND path < ?', [source.above, source.below]]);
    }
    for (const [where, values] of moves) {
      const change = 'SET volume = ?, path = ? || substr(path, length(?) + 1)';
      this.#statements.run(
        `UPDATE vfs ${change} WHERE volume = ? AND ${where}`,
        to.volume,
        to.path,
        from.path,
        from.volume,
        ...values,
      );
      this.#statements.run(
        `UPDATE vfs_node ${change}, version = ? WHERE volume = ? AND ${where}`,
        to.volume,
        to.path,
        from.path,
        version,
        from.volume,
        ...values,
      );
    }
    this.recordFiles(to.volume, to.path, false, version, null);
    if (directory) this.recordFiles(to.volume, to.path, true, version, null);
  }

  #upsert(
    volume: Volume,
    path: VfsPath,
    kind: string,
    mode: number | null,
    mtimeSeconds: number | null,
    version: number,
    target: string | null,
  ): void {
    this.#statements.run(
      `INSERT INTO vfs_node ${NODE_COLUMNS} SELECT ?, ?, ?, ?, ?, NULL, NULL, ?, ? WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, mtime = excluded.mtime,
         version = excluded.version, target = excluded.target`,
      volume,
      path,
      kind,
      mode,
      mtimeSeconds,
      version,
      target,
    );
  }
}
