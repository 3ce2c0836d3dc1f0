/** The keys of programs: what each may do, and the digest that a presented key must have. Never sees a key itself. */
import type { KeyBook, KeyRow, NewKey } from '../keys.ts';
import type { LedgerEntry } from '../registry.ts';
import type { RegistryDatabase, Value } from './database.ts';
import type { Ledger } from './ledger.ts';

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
    if (uses.length > 0)
      this.#database.writeSoon(() => this.#database.sql(USED).run(JSON.stringify(uses.map(({ id, at }) => [id, at]))));
  }
}

function keyOf([id, name, role, tenant, hash, created, createdBy, expires, lastUsed, revoked]: Value[]): KeyRow {
  return { id, name, role, tenant, hash, created, createdBy, expires, lastUsed, revoked } as KeyRow;
}
