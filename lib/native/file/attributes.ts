/** Extended attributes of inodes: those that users may set, as bytes. Knows nothing of files and names. */
import type { Statements } from '../../vfs/statements.ts';
import { E2BIG, EEXIST, ENODATA, ENOSPC, EOPNOTSUPP, ERANGE, endWith } from './errno.ts';
import type { Room } from './room.ts';

const MAX_VALUE_BYTES = 65_536;
const MAX_NAME_BYTES = 255;
/** Bytes of all names and values of one inode, as ext4 has it. */
const MAX_BYTES = 64 * 1024;
const CREATE = 1;
const REPLACE = 2;
/** Capabilities, labels and access lists would mean something to the kernel: a guest cannot make any. */
const USERS = Buffer.from('user.');

export class Attributes {
  readonly #statements: Statements;
  readonly #room: Room;
  readonly #begin: () => void;

  /** `begin` begins a transaction where none is open. */
  constructor(statements: Statements, room: Room, begin: () => void) {
    this.#statements = statements;
    this.#room = room;
    this.#begin = begin;
  }

  get(ino: number, name: Buffer): Buffer {
    return this.#find(ino, name) ?? endWith(ENODATA);
  }

  /** The names, each with a NUL behind it. */
  list(ino: number): Buffer {
    const rows = this.#statements.all<{ name: Uint8Array }>('SELECT name FROM native_xattr WHERE ino = ?', ino);
    return Buffer.concat(rows.flatMap(({ name }) => [name, NUL]));
  }

  /** Sets a value; `flags` as of setxattr(2). */
  set(ino: number, name: Buffer, value: Buffer, flags: number): void {
    if (!isUsers(name)) endWith(EOPNOTSUPP);
    if (name.length > MAX_NAME_BYTES) endWith(ERANGE);
    if (value.length > MAX_VALUE_BYTES) endWith(E2BIG);
    const has = this.#find(ino, name);
    if (has !== null && (flags & CREATE) !== 0) endWith(EEXIST);
    if (has === null && (flags & REPLACE) !== 0) endWith(ENODATA);
    const bytes = this.#bytesOf(ino) - sizeOf(name, has);
    if (bytes + sizeOf(name, value) > MAX_BYTES) endWith(ENOSPC);
    this.#room.require(sizeOf(name, value) - sizeOf(name, has));
    this.#begin();
    this.#room.add(sizeOf(name, value) - sizeOf(name, has));
    this.#statements.run(
      "INSERT OR REPLACE INTO native_xattr (ino, name, value) VALUES (?, ?, ifnull(?, x''))",
      ...[ino, name, value],
    );
  }

  remove(ino: number, name: Buffer): void {
    const has = this.#find(ino, name) ?? endWith(ENODATA);
    this.#begin();
    this.#room.add(-sizeOf(name, has));
    this.#statements.run('DELETE FROM native_xattr WHERE ino = ? AND name = ?', ino, name);
  }

  #find(ino: number, name: Buffer): Buffer | null {
    if (!isUsers(name)) return null;
    const sql = 'SELECT value FROM native_xattr WHERE ino = ? AND name = ?';
    const row = this.#statements.get<{ value: Uint8Array | null }>(sql, ino, name);
    return row === undefined ? null : Buffer.from(row.value ?? []);
  }

  #bytesOf(ino: number): number {
    const sql = 'SELECT ifnull(sum(length(name) + length(value)), 0) AS bytes FROM native_xattr WHERE ino = ?';
    return this.#statements.get<{ bytes: number }>(sql, ino)?.bytes ?? 0;
  }
}

const NUL = Buffer.from([0]);

function isUsers(name: Buffer): boolean {
  return name.length > USERS.length && name.subarray(0, USERS.length).equals(USERS) && !name.includes(0);
}

function sizeOf(name: Buffer, value: Buffer | null): number {
  return value === null ? 0 : name.length + value.length;
}
