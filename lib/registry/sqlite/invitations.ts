/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import { and, desc, eq, getTableColumns, gt, isNull, lte, placeholder } from '../../../db/drizzle.ts';
import { invitations } from '../../../db/schema.ts';
import { CORRECTION_MS, isOver } from '../../base/clock.ts';
import type { InvitationRow, InvitationStore } from '../invitations.ts';
import type { LedgerEntry } from '../types.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { rowid } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const at = (now: number) => ({ now, latest: now + CORRECTION_MS / 1000 });

/** The driver on SQLite. */
export class InvitationTable implements SyncMethods<InvitationStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #insert;
  readonly #find;
  readonly #state;
  readonly #list;
  readonly #use;
  readonly #release;
  readonly #withdraw;
  readonly #withdrawAll;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    const { used, ...columns } = getTableColumns(invitations);
    const isIt = eq(invitations.id, placeholder('id'));
    const isOpen = isNull(used);
    // One that was made ahead of now: the clock was set back, and it would be good for longer than it was made for.
    const isGood = and(
      isOpen,
      gt(invitations.expires, placeholder('now')),
      lte(invitations.created, placeholder('latest')),
    );
    this.#insert = database.statement((queries) => queries.insert(invitations).values(boundColumns(columns)).prepare());
    this.#find = database.statement((queries) =>
      queries
        .select(columns)
        .from(invitations)
        .where(and(isGood, eq(invitations.hash, placeholder('hash'))))
        .prepare(),
    );
    this.#state = database.statement((queries) =>
      queries
        .select({ used, created: invitations.created, expires: invitations.expires })
        .from(invitations)
        .where(eq(invitations.hash, placeholder('hash')))
        .prepare(),
    );
    this.#list = database.statement((queries) =>
      queries
        .select(columns)
        .from(invitations)
        .where(isGood)
        .orderBy(desc(invitations.created), desc(rowid(invitations)))
        .prepare(),
    );
    this.#use = database.statement((queries) =>
      queries
        .update(invitations)
        .set({ used: boundValue('now') })
        .where(and(isIt, isGood))
        .prepare(),
    );
    this.#release = database.statement((queries) =>
      queries.update(invitations).set({ used: null }).where(isIt).prepare(),
    );
    this.#withdraw = database.statement((queries) => queries.delete(invitations).where(and(isIt, isGood)).prepare());
    this.#withdrawAll = database.statement((queries) =>
      queries
        .delete(invitations)
        .where(and(eq(invitations.createdBy, placeholder('createdBy')), isOpen))
        .prepare(),
    );
  }

  add(invitation: InvitationRow, entries: LedgerEntry[]): void {
    const lines = this.#database.write(() => {
      this.#insert().run({ ...invitation });
      return this.#ledger.append(entries);
    });
    this.#ledger.announce(lines);
  }

  find(hash: string, now: number): InvitationRow | null {
    return this.#find().get({ hash, ...at(now) }) ?? null;
  }

  stateOf(hash: string, now: number): 'good' | 'used' | 'expired' | null {
    const row = this.#state().get({ hash });
    if (row === undefined) return null;
    if (row.used !== null) return 'used';
    return isOver({ madeMs: row.created * 1000, untilMs: row.expires * 1000 }, now * 1000) ? 'expired' : 'good';
  }

  list(now: number): InvitationRow[] {
    return this.#list().all(at(now));
  }

  use(id: string, now: number): boolean {
    return this.#database.write(() => this.#use().run({ id, ...at(now) }).changes > 0);
  }

  release(id: string): void {
    this.#database.write(() => this.#release().run({ id }));
  }

  withdraw(id: string, now: number, entries: LedgerEntry[]): boolean {
    const lines = this.#database.write(() =>
      this.#withdraw().run({ id, ...at(now) }).changes === 0 ? null : this.#ledger.append(entries),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  withdrawAllOf(createdBy: string): void {
    this.#database.write(() => this.#withdrawAll().run({ createdBy }));
  }
}
