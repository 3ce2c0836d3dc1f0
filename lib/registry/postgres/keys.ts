/** The keys of programs: their rights, and the digest that a presented key must have. Never sees a key itself. */
import type { KeyRow, KeyStore, NewKey } from '../keys.ts';
import { keyStatements } from '../statements/keys.ts';
import type { LedgerEntry } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

/** The driver on SQLite. */
export class KeyTable implements KeyStore {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: PostgresDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = database.with(keyStatements);
  }

  async add(key: NewKey, entry: LedgerEntry): Promise<KeyRow> {
    const row: KeyRow = { ...key, lastUsed: null, revoked: null };
    await this.#ledger.recorded([entry], () => this.#statements.insert().run({ ...row }));
    return row;
  }

  async get(id: string): Promise<KeyRow | null> {
    return (await this.#statements.get().get({ id })) ?? null;
  }

  async list(): Promise<KeyRow[]> {
    return await this.#statements.list().all();
  }

  revoke(id: string, now: number, entry: LedgerEntry): Promise<boolean> {
    return this.#ledger.recorded(
      [entry],
      async () => (await this.#statements.revoke().run({ revoked: now, id })).changes > 0,
    );
  }

  async recordUse(uses: readonly { id: string; at: number }[]): Promise<void> {
    if (uses.length === 0) return;
    await this.#database.write(async () => {
      for (const use of uses) await this.#statements.used().run(use);
    });
  }
}
