/**
 * Names: which inode has which name in which directory, and where the seed's table has what a name stands for. Owns the
 * rows of links; checks nothing.
 *
 * Each link has a number that no other one ever gets: a reader of a directory goes on behind the last one that it saw,
 * whatever was added and removed meanwhile.
 */
import type { Statements } from '../../vfs/statements.ts';

/**
 * Where the seed's table has an entry that was renamed or is new: `w/a/b` is a path of the workspace, `!7` the row 7,
 * which has no path just now, and `-` says that it is not there yet.
 */
export const NOWHERE = Buffer.from('-');

export interface Link {
  id: number;
  parent: number;
  name: Buffer;
  ino: number;
  /** Null: at the place that its directory has there, under its name. */
  origin: Buffer | null;
  /** Of the second table, when it was last compared. */
  version: number | null;
}

interface LinkRow {
  id: number;
  parent: number;
  name: Uint8Array;
  ino: number;
  origin: Uint8Array | null;
  version: number | null;
}

const COLUMNS = 'SELECT id, parent, name, ino, origin, version FROM native_link WHERE';

export class Links {
  readonly #statements: Statements;
  #nextId: number;

  constructor(statements: Statements, nextId: number) {
    this.#statements = statements;
    this.#nextId = nextId;
  }

  /** The number that the next link gets. */
  get nextId(): number {
    return this.#nextId;
  }

  find(parent: number, name: Uint8Array): Link | null {
    const row = this.#statements.get<LinkRow>(`${COLUMNS} parent = ? AND name = ?`, parent, name);
    return row === undefined ? null : linkOf(row);
  }

  /** The links of a directory behind a number, in order, at most `limit`. */
  after(parent: number, id: number, limit: number): Link[] {
    return this.#statements
      .all<LinkRow>(`${COLUMNS} parent = ? AND id > ? ORDER BY id LIMIT ?`, parent, id, limit)
      .map(linkOf);
  }

  /** All names of an inode. */
  of(ino: number): Link[] {
    return this.#statements.all<LinkRow>(`${COLUMNS} ino = ? ORDER BY id`, ino).map(linkOf);
  }

  byId(id: number): Link | null {
    const row = this.#statements.get<LinkRow>(`${COLUMNS} id = ?`, id);
    return row === undefined ? null : linkOf(row);
  }

  /** The link whose entry the seed's table has at a place that is noted. */
  byOrigin(origin: Buffer): Link | null {
    const row = this.#statements.get<LinkRow>(`${COLUMNS} origin = ?`, origin);
    return row === undefined ? null : linkOf(row);
  }

  /** Numbers of the links whose place in the seed's table is another one than their path, or none. */
  moved(): number[] {
    return this.#statements
      .all<{ id: number }>('SELECT id FROM native_link WHERE origin IS NOT NULL ORDER BY id')
      .map(({ id }) => id);
  }

  add(parent: number, name: Uint8Array, ino: number, origin: Buffer | null, version: number | null): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#statements.run(
      'INSERT INTO native_link (id, parent, name, ino, origin, version) VALUES (?, ?, ?, ?, ?, ?)',
      ...[id, parent, name, ino, origin, version],
    );
    return id;
  }

  remove(id: number): void {
    this.#statements.run('DELETE FROM native_link WHERE id = ?', id);
  }

  setVersion(id: number, version: number | null): void {
    this.#statements.run('UPDATE native_link SET version = ? WHERE id = ?', version, id);
  }

  setIno(id: number, ino: number): void {
    this.#statements.run('UPDATE native_link SET ino = ? WHERE id = ?', ino, id);
  }

  setOrigin(id: number, origin: Buffer | null): void {
    this.#statements.run('UPDATE native_link SET origin = ? WHERE id = ?', origin, id);
  }

  isEmpty(parent: number): boolean {
    return this.#statements.get('SELECT 1 FROM native_link WHERE parent = ? LIMIT 1', parent) === undefined;
  }
}

function linkOf(row: LinkRow): Link {
  return { ...row, name: Buffer.from(row.name), origin: row.origin === null ? null : Buffer.from(row.origin) };
}
