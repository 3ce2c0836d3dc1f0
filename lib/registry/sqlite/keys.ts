/** The keys of programs: their rights, and the digest that a presented key must have. Never sees a key itself. */
import type { KeyRow, KeyStore, NewKey } from '../keys.ts';
import { keyStatements } from '../statements/keys.ts';
import type { LedgerEntry } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** The driver on SQLite. */
export class KeyTable implements SyncMethods<KeyStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = keyStatements(database);
  }

  add(key: NewKey, entry: LedgerEntry): KeyRow {
    const row: KeyRow = { ...key, lastUsed: null, revoked: null };
    const lines = this.#database.write(() => {
      this.#statements.insert().run({ ...row });
      return this.#ledger.append([entry]);
    });
    this.#ledger.announce(lines);
    return row;
  }

  get(id: string): KeyRow | null {
    return this.#statements.get().get({ id }) ?? null;
  }

  list(): KeyRow[] {
    return this.#statements.list().all();
  }

  revoke(id: string, now: number, entry: LedgerEntry): boolean {
    const lines = this.#database.write(() =>
      this.#statements.revoke().run({ revoked: now, id }).changes === 0 ? null : this.#ledger.append([entry]),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  recordUse(uses: readonly { id: string; at: number }[]): void {
    if (uses.length === 0) return;
    this.#database.writeWithoutSync(() => {
      for (const use of uses) this.#statements.used().run(use);
    });
  }
}
