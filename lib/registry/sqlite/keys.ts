/** The keys of programs: their rights, and the digest that a presented key must have. Never sees a key itself. */
import { and, desc, eq, getTableColumns, isNull, lt, or, placeholder } from '../../../db/drizzle.ts';
import { keys } from '../../../db/schema.ts';
import type { KeyRow, KeyStore, NewKey } from '../keys.ts';
import type { LedgerEntry } from '../types.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { rowid } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** The driver on SQLite. */
export class KeyTable implements SyncMethods<KeyStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #insert;
  readonly #get;
  readonly #list;
  readonly #revoke;
  readonly #used;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    const columns = getTableColumns(keys);
    const isIt = eq(keys.id, placeholder('id'));
    this.#insert = database.statement((queries) => queries.insert(keys).values(boundColumns(columns)).prepare());
    this.#get = database.statement((queries) => queries.select().from(keys).where(isIt).prepare());
    this.#list = database.statement((queries) =>
      queries
        .select()
        .from(keys)
        .where(isNull(keys.revoked))
        .orderBy(desc(keys.created), desc(rowid(keys)))
        .prepare(),
    );
    this.#revoke = database.statement((queries) =>
      queries
        .update(keys)
        .set({ revoked: boundValue('revoked') })
        .where(and(isIt, isNull(keys.revoked)))
        .prepare(),
    );
    this.#used = database.statement((queries) =>
      queries
        .update(keys)
        .set({ lastUsed: boundValue('at') })
        .where(and(isIt, or(isNull(keys.lastUsed), lt(keys.lastUsed, placeholder('at')))))
        .prepare(),
    );
  }

  add(key: NewKey, entry: LedgerEntry): KeyRow {
    const row: KeyRow = { ...key, lastUsed: null, revoked: null };
    const lines = this.#database.write(() => {
      this.#insert().run({ ...row });
      return this.#ledger.append([entry]);
    });
    this.#ledger.announce(lines);
    return row;
  }

  get(id: string): KeyRow | null {
    return this.#get().get({ id }) ?? null;
  }

  list(): KeyRow[] {
    return this.#list().all();
  }

  revoke(id: string, now: number, entry: LedgerEntry): boolean {
    const lines = this.#database.write(() =>
      this.#revoke().run({ revoked: now, id }).changes === 0 ? null : this.#ledger.append([entry]),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  recordUse(uses: readonly { id: string; at: number }[]): void {
    if (uses.length === 0) return;
    this.#database.writeWithoutSync(() => {
      for (const use of uses) this.#used().run(use);
    });
  }
}
