/** Invitations: links that let one person in once, with a role. Never sees a link, only the digest of its token. */
import type { InvitationBook, InvitationRow } from '../invitations.ts';
import type { LedgerEntry } from '../registry.ts';
import type { RegistryDatabase, Value } from './database.ts';
import type { Ledger } from './ledger.ts';

const COLUMNS = 'id, hash, email, role, tenants, created, created_by, expires';
const INSERT = `INSERT INTO invitations(${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const GOOD = `SELECT ${COLUMNS} FROM invitations WHERE used IS NULL AND expires > ?`;
const FIND = `${GOOD} AND hash = ?`;
const STATE = `SELECT CASE WHEN used IS NOT NULL THEN 'used' WHEN expires > ? THEN 'good' ELSE 'expired' END FROM invitations WHERE hash = ?`;
const LIST = `${GOOD} ORDER BY created DESC, rowid DESC`;
const USE = 'UPDATE invitations SET used = ? WHERE id = ? AND used IS NULL AND expires > ?';
const RELEASE = 'UPDATE invitations SET used = NULL WHERE id = ?';
const WITHDRAW = 'DELETE FROM invitations WHERE id = ? AND used IS NULL AND expires > ?';
const WITHDRAW_ALL = 'DELETE FROM invitations WHERE created_by = ? AND used IS NULL';

/** The driver on SQLite. */
export class SqliteInvitationBook implements InvitationBook {
  readonly #database: RegistryDatabase;
  readonly #ledger: Ledger;

  constructor(database: RegistryDatabase, ledger: Ledger) {
    this.#database = database;
    this.#ledger = ledger;
  }

  add(invitation: InvitationRow, entries: LedgerEntry[]): void {
    const { id, hash, email, role, tenants, created, createdBy, expires } = invitation;
    const among = tenants === null ? null : JSON.stringify(tenants);
    const lines = this.#database.write(() => {
      this.#database.sql(INSERT).run(id, hash, email, role, among, created, createdBy, expires);
      return this.#ledger.append(entries);
    });
    this.#ledger.announce(lines);
  }

  find(hash: string, now: number): InvitationRow | null {
    const values = this.#database.sql(FIND).get(now, hash);
    return values === undefined ? null : invitationOf(values);
  }

  stateOf(hash: string, now: number): 'good' | 'used' | 'expired' | null {
    return this.#database.value(STATE, now, hash) as 'good' | 'used' | 'expired' | null;
  }

  list(now: number): InvitationRow[] {
    return this.#database.sql(LIST).all(now).map(invitationOf);
  }

  use(id: string, now: number): boolean {
    return this.#database.write(() => this.#database.sql(USE).run(now, id, now).changes > 0);
  }

  release(id: string): void {
    this.#database.write(() => this.#database.sql(RELEASE).run(id));
  }

  withdraw(id: string, now: number, entries: LedgerEntry[]): boolean {
    const lines = this.#database.write(() =>
      this.#database.sql(WITHDRAW).run(id, now).changes === 0 ? null : this.#ledger.append(entries),
    );
    this.#ledger.announce(lines ?? []);
    return lines !== null;
  }

  withdrawAllOf(createdBy: string): void {
    this.#database.write(() => this.#database.sql(WITHDRAW_ALL).run(createdBy));
  }
}

function invitationOf([id, hash, email, role, tenants, created, createdBy, expires]: Value[]): InvitationRow {
  const among = tenants === null ? null : (JSON.parse(String(tenants)) as string[]);
  return { id, hash, email, role, tenants: among, created, createdBy, expires } as InvitationRow;
}
