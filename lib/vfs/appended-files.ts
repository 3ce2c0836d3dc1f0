/**
 * Files to which a call has only appended since its last commit. What others have appended to one meanwhile is kept: at
 * the commit, what the call has added follows it. Knows nothing of who appends.
 */
import type { VfsPath } from './paths.ts';
import type { Statements } from './statements.ts';
import type { TableReader } from './table-reader.ts';
import { requireSize } from './tree-errors.ts';
import type { VfsAddress } from './types.ts';
import type { Volume } from './volumes.ts';

interface AppendedParts {
  statements: Statements;
  /** What is committed. */
  rows: TableReader;
  maxFileBytes: number;
  /** Whether the call has changes of a file that are not committed. */
  hasChanged(address: VfsAddress): boolean;
  /** The size of a file as the call sees it, in bytes; 0 for none. */
  sizeOf(address: VfsAddress): number;
}

interface Appended extends VfsAddress {
  /** The file as it was before: its size, and its version (0: there was none). */
  base: number;
  version: number;
  /** Its size after the call's last append. With another one it was changed in another way since. */
  size: number;
}

export class AppendedFiles {
  readonly #parts: AppendedParts;
  readonly #files = new Map<string, Appended>();

  constructor(parts: AppendedParts) {
    this.#parts = parts;
  }

  /** Runs what appends to a file, and remembers it while the call has changed the file in no other way. */
  append<T>(path: VfsPath, volume: Volume, write: () => T): T {
    const address = { volume, path };
    const key = `${volume}:${path}`;
    const before = this.#parts.sizeOf(address);
    const known = this.#files.get(key);
    const isOnly = known === undefined ? !this.#parts.hasChanged(address) : known.size === before;
    const version = known?.version ?? this.#parts.rows.file(volume, path)?.version ?? 0;
    const base = known?.base ?? before;
    const result = write();
    if (isOnly) this.#files.set(key, { ...address, base, version, size: this.#parts.sizeOf(address) });
    else this.#files.delete(key);
    return result;
  }

  /**
   * Lets the rows of the call `call` follow what others have committed. Inside the transaction of its commit. Throws
   * `too_large`.
   */
  follow(call: number): void {
    for (const file of this.#files.values()) {
      const theirs = this.#parts.rows.file(file.volume, file.path);
      if (theirs === null || theirs.version === file.version || this.#parts.sizeOf(file) !== file.size) continue;
      this.#join(call, file);
    }
  }

  clear(): void {
    this.#files.clear();
  }

  #join(call: number, { volume, path, base }: Appended): void {
    const { statements, rows, maxFileBytes } = this.#parts;
    const body = statements.get<{ body: number; content: Uint8Array }>(
      `SELECT b.id AS body, b.content FROM pending.changed_path c JOIN pending.changed_body b ON b.id = c.body
       WHERE c.call = ? AND c.volume = ? AND c.path = ? AND c.kind = 'file'`,
      call,
      volume,
      path,
    );
    const theirs = rows.content(volume, path);
    if (body === undefined || theirs === null || theirs.byteLength < base) return;
    const own = Buffer.from(body.content);
    // They have appended too, where the beginning is what it was.
    if (!own.subarray(0, base).equals(theirs.subarray(0, base))) return;
    const whole = Buffer.concat([theirs, own.subarray(base)]);
    requireSize({ volume, path }, whole.byteLength, maxFileBytes);
    statements.run('UPDATE pending.changed_body SET content = ? WHERE id = ?', whole, body.body);
    statements.run(
      'UPDATE pending.changed_path SET size = ? WHERE call = ? AND volume = ? AND path = ?',
      whole.byteLength,
      call,
      volume,
      path,
    );
  }
}
