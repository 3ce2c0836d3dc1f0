/** What the salvage of a damaged file must know of these tables: they may say more than its rows. */
import type { PageRecord } from '../../vfs/sqlite-pages.ts';
import { openNativeFile } from './native-file.ts';
import { WHOLE_BYTES } from './tables.ts';

/** Columns of a row of inodes, of which these are the kind, the size and the row of the content. */
const INODE_COLUMNS = 17;
const [KIND_AT, SIZE_AT, ROW_AT] = [1, 4, 12];
const FILE_KIND = 0o100000;
/** Columns of the one row that says whether a file is awake, and where. */
const STATE_COLUMNS = 6;
const AWAKE_AT = 2;

/**
 * Puts a copy to rest as far as it can be read: what real programs had changed since is in its rows then. False when
 * that cannot be done.
 */
export function foldCopy(file: string): boolean {
  try {
    openNativeFile(file, { maxBytes: Number.MAX_SAFE_INTEGER, keepsTmp: true }).close();
    return true;
  } catch {
    return false;
  }
}

/** Rows of a file whose content is elsewhere, and whether the rows are not the last that was there. */
export class NativeMarks {
  isAwake = false;
  readonly #large = new Map<number, number>();

  /** Looks at one record of a table. */
  see(record: PageRecord): void {
    if (record.columns === STATE_COLUMNS && record.rowid === 1) {
      const isState = [1, AWAKE_AT, 3, 4, 5].every((column) => typeof record.value(column) === 'number');
      if (isState && record.value(AWAKE_AT) === 1) this.isAwake = true;
    }
    if (record.columns !== INODE_COLUMNS || record.value(KIND_AT) !== FILE_KIND) return;
    const [size, row] = [record.value(SIZE_AT), record.value(ROW_AT)];
    if (typeof size === 'number' && typeof row === 'number' && size > WHOLE_BYTES) this.#large.set(row, size);
  }

  /** The size of the large file whose row has no content; null for any other. */
  largeSize(row: number | null): number | null {
    return row === null ? null : (this.#large.get(row) ?? null);
  }
}
