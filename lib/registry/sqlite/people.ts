/** The auth library's records as rows of its four tables. Knows nothing of what is in them. */
import { WinterdockError } from '../../base/errors.ts';
import type { PeopleCondition, PeopleKind, PeopleQuery, PeopleRecord, PeopleStore } from '../people.ts';
import { boundIn, isId, known, peopleStatements, stamps } from '../statements/people.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';

type Where = readonly PeopleCondition[];

export class PeopleTables implements PeopleStore {
  readonly #database: RegistryDatabase;
  readonly #statements;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#statements = peopleStatements(database);
  }

  async create(kind: PeopleKind, record: PeopleRecord): Promise<PeopleRecord> {
    const whole = { ...stamps(kind, 'create'), ...known(kind, record) };
    return this.#writing(() => this.#statements.create(kind, whole).get(whole) as PeopleRecord);
  }

  async find(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return this.#all(kind, { where, limit: 1 })[0] ?? null;
  }

  async findAll(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]> {
    return this.#all(kind, query);
  }

  async count(kind: PeopleKind, where: Where): Promise<number> {
    return this.#statements.count(kind, where).get(boundIn(kind, where))?.n ?? 0;
  }

  async change(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<PeopleRecord | null> {
    const changes = known(kind, patch);
    return this.#writing(() => {
      const [found] = this.#all(kind, { where, limit: 1 });
      return found === undefined ? null : (this.#change(kind, isId(found), changes)[0] ?? null);
    });
  }

  async changeAll(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<number> {
    const changes = known(kind, patch);
    return this.#writing(() => this.#change(kind, where, changes).length);
  }

  async take(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return this.#writing(() => {
      const [found] = this.#all(kind, { where, limit: 1 });
      if (found !== undefined) this.#remove(kind, isId(found));
      return found ?? null;
    });
  }

  async removeAll(kind: PeopleKind, where: Where): Promise<number> {
    return this.#writing(() => this.#remove(kind, where));
  }

  #all(kind: PeopleKind, query: PeopleQuery): PeopleRecord[] {
    const { where, limit, offset = 0 } = query;
    return this.#statements.find(kind, query).all({ ...boundIn(kind, where), limit, offset }) as PeopleRecord[];
  }

  #change(kind: PeopleKind, where: Where, patch: PeopleRecord): PeopleRecord[] {
    const whole = { ...stamps(kind, 'change'), ...patch };
    return this.#statements.change(kind, where, whole).all({ ...whole, ...boundIn(kind, where) }) as PeopleRecord[];
  }

  #remove(kind: PeopleKind, where: Where): number {
    return this.#statements.remove(kind, where).run(boundIn(kind, where)).changes;
  }

  #writing<T>(work: () => T): T {
    try {
      return this.#database.write(work);
    } catch (error) {
      const code = sqliteCode(error);
      if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
        throw new WinterdockError('conflict', 'There is no such person.', { cause: error });
      }
      if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') {
        throw new WinterdockError('conflict', 'Another record has that id, address or token.', { cause: error });
      }
      throw error;
    }
  }
}
