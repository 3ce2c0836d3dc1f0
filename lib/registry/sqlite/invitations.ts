/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import { CORRECTION_MS, isOver } from '../../base/clock.ts';
import type { InvitationRow, InvitationStore } from '../invitations.ts';
import { invitationStatements } from '../statements/invitations.ts';
import type { LedgerEntry } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const at = (now: number) => ({ now, latest: now + CORRECTION_MS / 1000 });

/** The driver on SQLite. */
export class InvitationTable implements SyncMethods<InvitationStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = invitationStatements(database);
  }

  add(invitation: InvitationRow, entries: LedgerEntry[]): void {
    const lines = this.#database.write(() => {
      this.#statements.insert().run({ ...invitation });
      return this.#ledger.append(entries);
    });
    this.#ledger.announce(lines);
  }

  find(hash: string, now: number): InvitationRow | null {
    return this.#statements.find().get({ hash, ...at(now) }) ?? null;
  }

  stateOf(hash: string, now: number): 'good' | 'used' | 'expired' | null {
    const row = this.#statements.state().get({ hash });
    if (row === undefined) return null;
    if (row.used !== null) return 'used';
    return isOver({ madeMs: row.created * 1000, untilMs: row.expires * 1000 }, now * 1000) ? 'expired' : 'good';
  }

  list(now: number): InvitationRow[] {
    return this.#statements.list().all(at(now));
  }

  use(id: string, now: number): boolean {
    return this.#database.write(() => this.#statements.use().run({ id, ...at(now) }).changes > 0);
  }

  release(id: string): void {
    this.#database.write(() => this.#statements.release().run({ id }));
  }

  withdraw(id: string, now: number, entries: LedgerEntry[]): boolean {
    const lines = this.#database.write(() =>
      this.#statements.withdraw().run({ id, ...at(now) }).changes === 0 ? null : this.#ledger.append(entries),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  withdrawAllOf(createdBy: string): void {
    this.#database.write(() => this.#statements.withdrawAll().run({ createdBy }));
  }
}
