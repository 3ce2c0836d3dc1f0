/**
 * The read side of an overlay: what a running call sees at a path – its own buffered changes, and beneath them the
 * current contents of the file. Writes nothing. A call without changes reads only the file.
 */
import { ancestorsOf, subtreeOf, type VfsPath } from './paths.ts';
import type { Statements } from './statements.ts';
import { DIRECTORY_MODE, FILE_MODE, impliedDirectory, LINK_MODE, TableReader } from './table-reader.ts';
import type { VfsAddress, VfsEntry } from './types.ts';
import type { Volume } from './volumes.ts';

/** Kinds of buffered rows that do not hide the file's own row at the same path. */
const BESIDE = "('kept', 'attributes')";

const COLUMNS =
  'path, kind, mode, mtime, above, target, ifnull(size, 0) AS size FROM pending.changed_path WHERE call = ? AND volume = ? AND';

const CHANGE = `SELECT ${COLUMNS} path = ?`;
const BODY =
  'SELECT b.content FROM pending.changed_path c JOIN pending.changed_body b ON b.id = c.body WHERE c.call = ? AND c.volume = ? AND c.path = ?';

const PART = BODY.replace('b.content', 'substr(b.content, ?, ?) AS content');

interface ChangeRow {
  path: string;
  kind: 'file' | 'link' | 'dir' | 'kept' | 'gone' | 'attributes';
  mode: number | null;
  mtime: number | null;
  above: number;
  target: string | null;
  size: number;
}

/**
 * A SQL condition that excludes the file's rows that the call has replaced or removed, ending with AND. Its one
 * parameter is the call's number.
 */
export function unchanged(table: string): string {
  return `NOT EXISTS (SELECT 1 FROM pending.changed_path hiding WHERE hiding.call = ? AND hiding.volume = ${table}.volume AND hiding.path = ${table}.path AND hiding.kind NOT IN ${BESIDE}) AND `;
}

interface OverlayReaderParts {
  /** Reads the file. */
  base: TableReader;
  /** The number of the call's rows, null while it has none. */
  call: () => number | null;
  /** What memory alone has of a path. */
  inMemory: (volume: Volume, path: VfsPath) => Uint8Array | null;
}

/** It is given its functions: V8 keeps one that is written into a property until the next full collection. */
export class OverlayReader extends TableReader {
  readonly #base: TableReader;
  readonly #call: () => number | null;
  readonly #inMemory: (volume: Volume, path: VfsPath) => Uint8Array | null;

  constructor(statements: Statements, nodes: boolean, { base, call, inMemory }: OverlayReaderParts) {
    super(statements, nodes);
    this.#base = base;
    this.#call = call;
    this.#inMemory = inMemory;
  }

  override file(volume: Volume, path: VfsPath): VfsEntry | null {
    const change = this.#change(volume, path);
    if (change === null || change.kind === 'kept') return this.#base.file(volume, path);
    if (change.kind === 'file') return entryOf(change);
    return change.kind === 'attributes' ? withAttributes(this.#base.file(volume, path), change) : null;
  }

  override content(volume: Volume, path: VfsPath): Uint8Array | null {
    const change = this.#change(volume, path);
    if (change === null || change.kind === 'kept' || change.kind === 'attributes')
      return this.#base.content(volume, path);
    if (change.kind !== 'file') return null;
    const inMemory = this.#inMemory(volume, path);
    if (inMemory !== null) return Buffer.from(inMemory);
    return this.statements.get<{ content: Uint8Array }>(BODY, this.#call(), volume, path)?.content ?? null;
  }

  override slice(volume: Volume, path: VfsPath, start: number, end: number): Uint8Array | null {
    const change = this.#change(volume, path);
    if (change === null || change.kind === 'kept' || change.kind === 'attributes')
      return this.#base.slice(volume, path, start, end);
    if (change.kind !== 'file') return null;
    const inMemory = this.#inMemory(volume, path);
    if (inMemory !== null) return Buffer.from(inMemory.subarray(start, end + 1));
    const values = [start + 1, end - start + 1, this.#call(), volume, path];
    return this.statements.get<{ content: Uint8Array }>(PART, ...values)?.content ?? null;
  }

  override entry(volume: Volume, path: VfsPath): VfsEntry | null {
    const change = this.#change(volume, path);
    if (change === null) {
      return this.#base.file(volume, path) ?? this.#base.node(volume, path) ?? this.implied(volume, path);
    }
    switch (change.kind) {
      case 'gone':
        return this.implied(volume, path);
      case 'attributes':
        return withAttributes(this.#base.file(volume, path), change) ?? this.#base.entry(volume, path);
      case 'kept':
        return this.#kept(volume, path, change);
      default:
        return entryOf(change);
    }
  }

  override node(volume: Volume, path: VfsPath): VfsEntry | null {
    const change = this.#change(volume, path);
    if (change === null || change.kind === 'attributes') return this.#base.node(volume, path);
    if (change.kind === 'kept') {
      const kept = this.#kept(volume, path, change);
      return kept.kind === 'file' ? null : kept;
    }
    return change.kind === 'dir' || change.kind === 'link' ? entryOf(change) : null;
  }

  override longestBelow(volume: Volume, path: VfsPath): string | null {
    const inFile = super.longestBelow(volume, path);
    const call = this.#call();
    if (call === null) return inFile;
    const { above, below } = subtreeOf(path);
    const sql = `SELECT path FROM pending.changed_path WHERE call = ? AND volume = ? AND path > ? AND path < ? AND kind <> 'gone' ORDER BY octet_length(path) DESC LIMIT 1`;
    const gathered = this.statements.get<{ path: string }>(sql, call, volume, above, below)?.path ?? null;
    if (inFile === null || gathered === null) return inFile ?? gathered;
    return Buffer.byteLength(inFile) > Buffer.byteLength(gathered) ? inFile : gathered;
  }

  /** Paths of files under a prefix, in byte order. */
  files(volume: Volume, prefix: string, limit: number): string[] {
    const call = this.#call();
    const within = "volume = ? AND path >= ? AND path < ? || CAST(x'FF' AS TEXT)";
    const gathered =
      call === null
        ? ''
        : `UNION ALL SELECT path FROM pending.changed_path WHERE call = ? AND kind = 'file' AND ${within}`;
    const sql = `SELECT path FROM (SELECT path FROM vfs WHERE ${this.visible('vfs')}${within} ${gathered}) ORDER BY path LIMIT ?`;
    const values = [volume, prefix, prefix];
    return this.statements
      .all<{ path: string }>(sql, ...this.hidden(), ...values, ...(call === null ? [] : [call, ...values]), limit)
      .map(({ path }) => path);
  }

  /** Directories implied by the call's own files, by volume. */
  above(call: number): Map<Volume, Set<VfsPath>> {
    const above = new Map<Volume, Set<VfsPath>>();
    const sql = `SELECT volume, path FROM pending.changed_path WHERE call = ? AND kind IN ('file', 'link', 'dir')`;
    for (const { volume, path } of this.statements.iterate<VfsAddress>(sql, call)) {
      const known = above.get(volume) ?? new Set();
      above.set(volume, known);
      for (const directory of ancestorsOf(path)) known.add(directory);
    }
    return above;
  }

  protected override childrenByName(volume: Volume, directory: VfsPath): Map<string, VfsEntry> {
    const found = super.childrenByName(volume, directory);
    const call = this.#call();
    if (call === null) return found;
    const { above, below } = subtreeOf(directory);
    const sql = (kinds: string) => `SELECT ${COLUMNS} path >= ? AND path < ? AND kind ${kinds} ORDER BY path`;
    this.eachChild<ChangeRow>(sql("NOT IN ('gone', 'attributes')"), [call, volume], above, below, (name, row, deep) => {
      const there = found.get(name);
      if (deep && there === undefined) found.set(name, impliedDirectory(above + name, row.mtime ?? 0));
      else if (!deep && (row.kind !== 'kept' || there === undefined || there.kind === 'dir'))
        found.set(name, entryOf(row));
    });
    this.eachChild<ChangeRow>(sql("= 'attributes'"), [call, volume], above, below, (name, row, deep) => {
      const there = found.get(name);
      if (!deep && there?.kind === 'file') found.set(name, withAttributes(there, row) ?? there);
    });
    return found;
  }

  protected override firstBelow(volume: Volume, path: VfsPath): { mtime: number | null } | null {
    const call = this.#call();
    if (call !== null) {
      const { above, below } = subtreeOf(path);
      const sql = `SELECT mtime FROM pending.changed_path WHERE call = ? AND volume = ? AND path > ? AND path < ? AND kind NOT IN ('gone', 'attributes') ORDER BY path LIMIT 1`;
      const gathered = this.statements.get<{ mtime: number | null }>(sql, call, volume, above, below);
      if (gathered) return gathered;
    }
    return super.firstBelow(volume, path);
  }

  protected override visible(table: string): string {
    return this.#call() === null ? '' : unchanged(table);
  }

  protected override hidden(): number[] {
    const call = this.#call();
    return call === null ? [] : [call];
  }

  #change(volume: Volume, path: VfsPath): ChangeRow | null {
    const call = this.#call();
    if (call === null) return null;
    return this.statements.get<ChangeRow>(CHANGE, call, volume, path) ?? null;
  }

  /** An implicit directory gives way to anything else at its path. */
  #kept(volume: Volume, path: VfsPath, change: ChangeRow): VfsEntry {
    const inFile = this.#base.file(volume, path) ?? this.#base.node(volume, path);
    return inFile !== null && inFile.kind !== 'dir' ? inFile : entryOf(change);
  }
}

function entryOf(change: ChangeRow): VfsEntry {
  const { path, kind, mode, mtime, above, target, size } = change;
  // It has no version of its own before the commit.
  const version = above;
  if (kind === 'file') return { path, kind, size, mode: mode ?? FILE_MODE, mtime: mtime ?? 0, version, target: null };
  if (kind === 'link') {
    const text = target ?? '';
    return {
      path,
      kind,
      size: Buffer.byteLength(text),
      mode: mode ?? LINK_MODE,
      mtime: mtime ?? 0,
      version,
      target: text,
    };
  }
  return { path, kind: 'dir', size: 0, mode: mode ?? DIRECTORY_MODE, mtime: mtime ?? 0, version, target: null };
}

function withAttributes(file: VfsEntry | null, { mode, mtime }: ChangeRow): VfsEntry | null {
  return file && { ...file, mode: mode ?? file.mode, mtime: mtime ?? file.mtime };
}
