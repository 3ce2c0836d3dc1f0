/**
 * The contract of a drawer that files rest in: cold and archive, on disk today, an object store later. Every driver
 * passes the suite in contract.ts. A drawer knows keys and local paths; it knows nothing of rows, states or what is in
 * a file.
 *
 * Each method either happened whole or not at all, also when the process is killed in the middle, and may be repeated.
 */

/** What identifies a local file without reading it. Numbers that do not fit a double are decimal strings. */
export interface FileStamp {
  size: number;
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
}

/**
 * The file is in place. `makeDurable` resolves once power loss cannot undo that; whoever cannot wait for the disk asks
 * later.
 */
export interface Placed {
  makeDurable(): Promise<void>;
}

export interface Drawer {
  /** The path of a key relative to the data folder, as the row shows it. */
  pathOf(key: string): string;
  /**
   * Puts a clean, closed file in under `key`, durably, replacing nothing: throws `conflict` when the key is taken. The
   * source may be gone afterwards (`moves`) or still be there; `forget` it only once the row says that the drawer has
   * it. Returns the SHA-256 of the bytes that it took (lower-case hex), or null where the driver moved them without
   * reading any.
   */
  put(source: string, key: string): Promise<string | null>;
  /**
   * Brings the file of `key` to the local path `target`, whose folder exists. Throws `missing_file` when the drawer has
   * no such key and `corrupt` when what it holds cannot be expanded. The key may be gone afterwards (`moves`) or still
   * be there.
   */
  fetch(key: string, target: string): Promise<Placed>;
  /** A readable local path of the file itself, where the driver has one without copying; null otherwise. */
  open(key: string): string | null;
  /** The stamp of what is kept under `key`, or null when there is nothing. */
  stamp(key: string): FileStamp | null;
  /** Removes a key, durably. A missing key is no error. */
  remove(key: string): Promise<void>;
  /** Every key in the drawer, in no order. */
  keys(): AsyncIterable<string>;
}
