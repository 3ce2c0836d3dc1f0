/** The keys of programs: what each may do, and the digest that a presented key must have. Never sees a key itself. */
import type { RegistryDatabase, Value } from './database.ts';
import type { Ledger } from './ledger.ts';
import type { Awaitable, LedgerEntry } from './registry.ts';

export interface NewKey {
  id: string;
  name: string;
  role: string;
  /** The only tenant it may act for; null: all. */
  tenant: string | null;
  /** SHA-256 of the whole key in hex. */
  hash: string;
  /** Epoch seconds, as all times here. */
  created: number;
  createdBy: string;
  /** From then on it is no key any more; null: never. */
  expires: number | null;
}

export interface KeyRow extends NewKey {
  lastUsed: number | null;
  revoked: number | null;
}

export interface KeyBook {
  /** Throws when the id is taken. The ledger line is in the same transaction, as in every method that takes one. */
  add(key: NewKey, ledger: LedgerEntry): Awaitable<KeyRow>;
  /** The row, revoked ones included, or null. */
  get(id: string): Awaitable<KeyRow | null>;
  /** What is not revoked, newest first. */
  list(): Awaitable<KeyRow[]>;
  /** False when there is no such key, or no more: nothing is written then. */
  revoke(id: string, now: number, ledger: LedgerEntry): Awaitable<boolean>;
  /** When keys were last used; never backwards. Survives a kill at once, power loss with the next transaction. */
  used(uses: readonly { id: string; at: number }[]): Awaitable<void>;
}

const COLUMNS = 'id, name, role, tenant, hash, created, created_by, expires, last_used, revoked';
const INSERT = `INSERT INTO keys(${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)`;
const GET = `SELECT ${COLUMNS} FROM keys WHERE id = ?`;
const LIST = `SELECT ${COLUMNS} FROM keys INDEXED BY keys_by_created WHERE revoked IS NULL ORDER BY created DESC, rowid DESC`;
const REVOKE = 'UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL';
const USED = `UPDATE keys SET last_used = max(coalesce(last_used, 0), used.value ->> 1)
  FROM json_each(?) AS used WHERE keys.id = used.value ->> 0`;

/** The driver on SQLite. */
export class SqliteKeyBook implements KeyBook {
  readonly #database: RegistryDatabase;
  readonly #ledger: Ledger;

  constructor(database: RegistryDatabase, ledger: Ledger) {
    this.#database = database;
    this.#ledger = ledger;
  }

  add(key: NewKey, entry: LedgerEntry): KeyRow {
    const { id, name, role, tenant, hash, created, createdBy, expires } = key;
    const lines = this.#database.write(() => {
      this.#database.sql(INSERT).run(id, name, role, tenant, hash, created, createdBy, expires);
      return this.#ledger.append([entry]);
    });
    this.#ledger.announce(lines);
    return { ...key, lastUsed: null, revoked: null };
  }

  get(id: string): KeyRow | null {
    const values = this.#database.sql(GET).get(id);
    return values === undefined ? null : keyOf(values);
  }

  list(): KeyRow[] {
    return this.#database.sql(LIST).all().map(keyOf);
  }

  revoke(id: string, now: number, entry: LedgerEntry): boolean {
    const lines = this.#database.write(() =>
      this.#database.sql(REVOKE).run(now, id).changes === 0 ? null : this.#ledger.append([entry]),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  used(uses: readonly { id: string; at: number }[]): void {
    if (uses.length > 0) this.#database.writeSoon(USED, JSON.stringify(uses.map(({ id, at }) => [id, at])));
  }
}

function keyOf([id, name, role, tenant, hash, created, createdBy, expires, lastUsed, revoked]: Value[]): KeyRow {
  return { id, name, role, tenant, hash, created, createdBy, expires, lastUsed, revoked } as KeyRow;
}
