/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import { CORRECTION_MS, isOver } from '../../base/clock.ts';
import type { InvitationRow, InvitationStore } from '../invitations.ts';
import { invitationStatements } from '../statements/invitations.ts';
import type { LedgerEntry } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

const at = (now: number) => ({ now, latest: now + CORRECTION_MS / 1000 });

/** The driver on SQLite. */
export class InvitationTable implements InvitationStore {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: PostgresDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = database.with(invitationStatements);
  }

  async add(invitation: InvitationRow, entries: LedgerEntry[]): Promise<void> {
    await this.#ledger.recorded(entries, () => this.#statements.insert().run({ ...invitation }));
  }

  async find(hash: string, now: number): Promise<InvitationRow | null> {
    return (await this.#statements.find().get({ hash, ...at(now) })) ?? null;
  }

  async stateOf(hash: string, now: number): Promise<'good' | 'used' | 'expired' | null> {
    const row = await this.#statements.state().get({ hash });
    if (row === undefined) return null;
    if (row.used !== null) return 'used';
    return isOver({ madeMs: row.created * 1000, untilMs: row.expires * 1000 }, now * 1000) ? 'expired' : 'good';
  }

  async list(now: number): Promise<InvitationRow[]> {
    return await this.#statements.list().all(at(now));
  }

  async use(id: string, now: number): Promise<boolean> {
    return await this.#database.write(async () => (await this.#statements.use().run({ id, ...at(now) })).changes > 0);
  }

  async release(id: string): Promise<void> {
    await this.#database.write(async () => await this.#statements.release().run({ id }));
  }

  withdraw(id: string, now: number, entries: LedgerEntry[]): Promise<boolean> {
    return this.#ledger.recorded(
      entries,
      async () => (await this.#statements.withdraw().run({ id, ...at(now) })).changes > 0,
    );
  }

  async withdrawAllOf(createdBy: string): Promise<void> {
    await this.#database.write(async () => await this.#statements.withdrawAll().run({ createdBy }));
  }
}
