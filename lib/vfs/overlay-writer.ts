/**
 * The write side of an overlay: stores a running call's changes as rows in the buffer; the file itself is only read.
 * Versions are assigned when the rows are committed.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { unchanged } from './overlay-reader.ts';
import { subtreeOf, type VfsPath } from './paths.ts';
import type { Statements } from './statements.ts';
import { FILE_MODE, MTIME, WITH_NODE } from './table-reader.ts';
import type { TreeWriter } from './tree.ts';
import type { VfsAddress, VfsEntry, VfsStat } from './types.ts';
import type { Volume } from './volumes.ts';

const INTO = 'pending.changed_path (call, volume, path, kind, mode, mtime, above, size, pages, freed, target, body)';
/** Replaces every column: nothing of the old row is kept. */
const ANEW = `ON CONFLICT (call, volume, path) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, mtime = excluded.mtime,
  above = max(above, excluded.above), size = excluded.size, pages = excluded.pages, freed = max(freed, excluded.freed), target = excluded.target, body = excluded.body`;

/** Contents larger than this many bytes are stored outside the row's own page, in whole pages. */
const INLINE_BYTES = 4000;
const OVERFLOW_BYTES = 4092;
const PAGE_BYTES = 4096;
/** Bytes that a row takes beside its content: both tables and the index hold the path and some numbers. */
const PATHS = 3;
const ROW_BYTES = 120;
/** Pages of a b-tree are two thirds full on average. */
const LOOSE = 1.5;

/** Upper bound of the pages that a file takes; the SQL form is for a stored one. */
function pagesOf(size: number, path: string): number {
  const row = ((PATHS * Buffer.byteLength(path) + ROW_BYTES) * LOOSE) / PAGE_BYTES;
  return row + (size > INLINE_BYTES ? Math.ceil(size / OVERFLOW_BYTES) : (size * LOOSE) / PAGE_BYTES);
}
const STORED_SIZE = 'ifnull(octet_length(v.content), 0)';
const STORED_PAGES = `(${PATHS} * octet_length(v.path) + ${ROW_BYTES}) * ${LOOSE} / ${PAGE_BYTES} + CASE WHEN ${STORED_SIZE} > ${INLINE_BYTES}
  THEN (${STORED_SIZE} + ${OVERFLOW_BYTES - 1}) / ${OVERFLOW_BYTES} ELSE ${STORED_SIZE} * ${LOOSE} / ${PAGE_BYTES} END`;
/** Whole pages that removing a file frees. */
const FREED_PAGES = `CASE WHEN ${STORED_SIZE} > ${INLINE_BYTES} THEN ${STORED_SIZE} / ${OVERFLOW_BYTES} ELSE 0 END`;

const REPLACE_BODY = `UPDATE pending.changed_body SET content = ifnull(?, x'')
  WHERE id = (SELECT body FROM pending.changed_path WHERE call = ? AND volume = ? AND path = ?)`;
/** The body of the row is the replaced one, or the newest. */
const PUT_FILE = `INSERT INTO ${INTO} SELECT ?, ?, ?, 'file', ?, ?, ?, ?, ?,
    ifnull((SELECT ${STORED_PAGES} FROM vfs v WHERE v.volume = ? AND v.path = ?), 0), NULL,
    ifnull((SELECT body FROM pending.changed_path WHERE call = ? AND volume = ? AND path = ?), (SELECT max(id) FROM pending.changed_body)) WHERE true ${ANEW}`;

export class OverlayWriter implements TreeWriter {
  readonly #statements: Statements;
  readonly #clock: Clock;
  readonly #call: () => number;
  readonly #took: (pages: number) => void;

  /**
   * `call`: the number of the call's rows, assigned with the first one. `took` is called for every row that takes room,
   * and may throw to refuse it.
   */
  constructor(statements: Statements, clock: Clock, call: () => number, took: (pages: number) => void) {
    this.#statements = statements;
    this.#clock = clock;
    this.#call = call;
    this.#took = took;
  }

  putFile(volume: Volume, path: VfsPath, content: Uint8Array, current: VfsEntry | null, mode: number | null): VfsStat {
    const call = this.#call();
    const size = content.byteLength;
    const pages = pagesOf(size, path);
    const mtime = epochSeconds(this.#clock);
    const above = current?.version ?? 0;
    if (current === null || this.#statements.run(REPLACE_BODY, content, call, volume, path) === 0) {
      this.#statements.run("INSERT INTO pending.changed_body (content) SELECT ifnull(?, x'')", content);
    }
    const kept = mode ?? current?.mode ?? FILE_MODE;
    this.#statements.run(
      PUT_FILE,
      call,
      volume,
      path,
      kept,
      mtime,
      above,
      size,
      pages,
      volume,
      path,
      call,
      volume,
      path,
    );
    this.#took(pages);
    return { path, size, mtime, version: above };
  }

  /**
   * Gives a file that is written piece by piece the size that it will have; `current`: what it is now. Its content
   * comes with `putBody`, before the commit.
   */
  putSize(volume: Volume, path: VfsPath, size: number, current: VfsEntry | null): void {
    const now = epochSeconds(this.#clock);
    const before = this.#size(volume, path);
    if (before === null) this.putFile(volume, path, new Uint8Array(0), current, null);
    this.#statements.run(
      `UPDATE pending.changed_path SET size = ?, pages = ?, mtime = ? WHERE call = ? AND volume = ? AND path = ?`,
      size,
      pagesOf(size, path),
      now,
      this.#call(),
      volume,
      path,
    );
    this.#took(Math.max(0, pagesOf(size, path) - pagesOf(before ?? 0, path)));
  }

  /** Gives the row of such a file another size. */
  noteSize(volume: Volume, path: VfsPath, size: number): void {
    this.#statements.run(
      `UPDATE pending.changed_path SET size = ?, pages = ? WHERE call = ? AND volume = ? AND path = ? AND kind = 'file'`,
      size,
      pagesOf(size, path),
      this.#call(),
      volume,
      path,
    );
  }

  /** Stores the content of such a file. */
  putBody(volume: Volume, path: VfsPath, content: Uint8Array): void {
    this.#statements.run(REPLACE_BODY, content, this.#call(), volume, path);
  }

  /** The size of a file that has a row. */
  #size(volume: Volume, path: VfsPath): number | null {
    const sql = `SELECT size FROM pending.changed_path WHERE call = ? AND volume = ? AND path = ? AND kind = 'file'`;
    return this.#statements.get<{ size: number }>(sql, this.#call(), volume, path)?.size ?? null;
  }

  setAttributes(volume: Volume, path: VfsPath, current: VfsEntry, mode: number, mtimeSeconds: number | null): void {
    if (mode === current.mode && mtimeSeconds === null) return;
    const changed = this.#statements.run(
      `UPDATE pending.changed_path SET mode = ?, mtime = ifnull(?, mtime) WHERE call = ? AND volume = ? AND path = ? AND kind <> 'gone'`,
      mode,
      mtimeSeconds,
      this.#call(),
      volume,
      path,
    );
    if (changed > 0) return;
    if (current.kind === 'file') this.#put(volume, path, 'attributes', mode, mtimeSeconds, null);
    // For a directory this sets mode and time, but does not make the directory explicit.
    else
      this.#put(
        volume,
        path,
        current.kind === 'dir' ? 'kept' : 'link',
        mode,
        mtimeSeconds ?? current.mtime,
        current.target,
      );
  }

  putDirectory(volume: Volume, path: VfsPath, mode: number | null, explicit: boolean): void {
    this.#put(volume, path, explicit ? 'dir' : 'kept', mode, epochSeconds(this.#clock), null);
    if (explicit) this.#took(pagesOf(0, path));
  }

  putLink(volume: Volume, path: VfsPath, target: string): void {
    this.#put(volume, path, 'link', null, epochSeconds(this.#clock), target);
    this.#took(pagesOf(0, path));
  }

  remove(volume: Volume, path: VfsPath): void {
    this.#remove(volume, exactly(path));
  }

  removeBelow(volume: Volume, path: VfsPath): void {
    this.#remove(volume, below(path));
  }

  /** The content is copied, because others may overwrite the original meanwhile. */
  rename(from: VfsAddress, to: VfsAddress, directory: boolean, replaced: number): void {
    const ranges = directory ? [exactly(from.path), below(from.path)] : [exactly(from.path)];
    for (const range of ranges) this.#move(from, to, range, replaced);
    for (const range of ranges) this.#remove(from.volume, range);
    const targets = directory ? [exactly(to.path), below(to.path)] : [exactly(to.path)];
    for (const { where, values } of targets) {
      const sql = `SELECT total(pages) AS pages FROM pending.changed_path WHERE call = ? AND volume = ? AND ${where('path')}`;
      this.#took(this.#statements.get<{ pages: number }>(sql, this.#call(), to.volume, ...values)?.pages ?? 0);
    }
  }

  #move(from: VfsAddress, to: VfsAddress, range: Range, replaced: number): void {
    const { where, values } = range;
    const call = this.#call();
    const place = (path: string) => `?, ? || substr(${path}, length(?) + 1)`;
    const target = [to.volume, to.path, from.path];
    this.#copy(from, to, range, replaced);
    this.#statements.run(
      `INSERT INTO ${INTO} SELECT ?, ${place('n.path')}, n.kind, n.mode, n.mtime, ?, NULL, ?, 0, n.target, NULL
       FROM vfs_node n WHERE ${unchanged('n')}n.kind <> 'file' AND n.volume = ? AND ${where('n.path')} ${ANEW}`,
      call,
      ...target,
      replaced,
      pagesOf(0, to.path),
      call,
      from.volume,
      ...values,
    );
    this.#statements.run(
      `UPDATE OR REPLACE pending.changed_path SET volume = ?, path = ? || substr(path, length(?) + 1), kind = iif(kind = 'kept', 'dir', kind),
         above = max(above, ?), freed = 0
       WHERE call = ? AND kind NOT IN ('gone', 'attributes') AND volume = ? AND ${where('path')}`,
      ...target,
      replaced,
      call,
      from.volume,
      ...values,
    );
  }

  /** The file's own rows at these paths that the call has not changed, with their contents. */
  #copy(from: VfsAddress, to: VfsAddress, { where, values }: Range, replaced: number): void {
    const call = this.#call();
    const sources = `FROM ${WITH_NODE} LEFT JOIN pending.changed_path a ON a.call = ? AND a.volume = v.volume AND a.path = v.path AND a.kind = 'attributes'
      WHERE ${unchanged('v')}v.volume = ? AND ${where('v.path')}`;
    const count =
      this.#statements.get<{ files: number }>(`SELECT count(*) AS files ${sources}`, call, call, from.volume, ...values)
        ?.files ?? 0;
    if (count === 0) return;
    const first =
      (this.#statements.get<{ last: number | null }>('SELECT max(id) AS last FROM pending.changed_body')?.last ?? 0) +
      1;
    this.#statements.run(
      `INSERT INTO ${INTO} SELECT ?, ?, ? || substr(v.path, length(?) + 1), 'file', coalesce(a.mode, n.mode, ${FILE_MODE}), ifnull(a.mtime, ${MTIME}), ?,
         ${STORED_SIZE}, ${STORED_PAGES}, 0, NULL, ? + row_number() OVER () - 1 ${sources} ${ANEW}`,
      call,
      to.volume,
      to.path,
      from.path,
      replaced,
      first,
      call,
      call,
      from.volume,
      ...values,
    );
    this.#statements.run(
      `INSERT INTO pending.changed_body SELECT c.body, ifnull(CAST(v.content AS BLOB), x'') FROM vfs v
       CROSS JOIN pending.changed_path c ON c.call = ? AND c.volume = ? AND c.path = ? || substr(v.path, length(?) + 1)
       WHERE v.volume = ? AND ${where('v.path')} AND c.body >= ?`,
      call,
      to.volume,
      to.path,
      from.path,
      from.volume,
      ...values,
      first,
    );
  }

  #dropBodies(volume: Volume, { where, values }: Range): void {
    const sql = `DELETE FROM pending.changed_body WHERE id IN (SELECT body FROM pending.changed_path WHERE call = ? AND volume = ? AND ${where('path')})`;
    this.#statements.run(sql, this.#call(), volume, ...values);
  }

  /**
   * Marks the file's rows at these paths as removed. Buffered rows without a counterpart in the file are simply
   * dropped.
   */
  #remove(volume: Volume, range: Range): void {
    const { where, values } = range;
    const call = this.#call();
    this.#dropBodies(volume, range);
    this.#statements.run(
      `DELETE FROM pending.changed_path WHERE call = ? AND volume = ? AND ${where('path')}`,
      call,
      volume,
      ...values,
    );
    this.#statements.run(
      `INSERT INTO ${INTO} SELECT ?, v.volume, v.path, 'gone', NULL, NULL, 0, NULL, 0, ${FREED_PAGES}, NULL, NULL
       FROM vfs v WHERE v.volume = ? AND ${where('v.path')}`,
      call,
      volume,
      ...values,
    );
    this.#statements.run(
      `INSERT INTO ${INTO} SELECT ?, volume, path, 'gone', NULL, NULL, 0, NULL, 0, 0, NULL, NULL
       FROM vfs_node WHERE volume = ? AND ${where('path')} ON CONFLICT DO NOTHING`,
      call,
      volume,
      ...values,
    );
  }

  /** Writes a row without content. A `kept` row changes nothing in the file, except that it undoes a removal. */
  #put(
    volume: Volume,
    path: VfsPath,
    kind: 'dir' | 'link' | 'kept' | 'attributes',
    mode: number | null,
    mtimeSeconds: number | null,
    target: string | null,
  ): void {
    const conflict =
      kind === 'kept'
        ? "ON CONFLICT (call, volume, path) DO UPDATE SET kind = 'dir', mode = excluded.mode, mtime = excluded.mtime WHERE kind = 'gone'"
        : ANEW;
    const pages = kind === 'attributes' ? 0 : pagesOf(0, path);
    this.#statements.run(
      `INSERT INTO ${INTO} SELECT ?, ?, ?, '${kind}', ?, ?, 0, NULL, ?, 0, ?, NULL WHERE true ${conflict}`,
      this.#call(),
      volume,
      path,
      mode,
      mtimeSeconds,
      pages,
      target,
    );
  }
}

/** A SQL condition that a column is one of some paths of a volume, with its values. */
interface Range {
  where: (column: string) => string;
  values: string[];
}

function exactly(path: string): Range {
  return { where: (column) => `${column} = ?`, values: [path] };
}

function below(path: string): Range {
  const range = subtreeOf(path);
  return { where: (column) => `${column} > ? AND ${column} < ?`, values: [range.above, range.below] };
}
