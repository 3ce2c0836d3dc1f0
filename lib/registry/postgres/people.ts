/** The auth library's records as rows of its four tables. Knows nothing of what is in them. */
import { WinterdockError } from '../../base/errors.ts';
import type { PeopleCondition, PeopleKind, PeopleQuery, PeopleRecord, PeopleStore } from '../people.ts';
import { boundIn, isId, known, peopleStatements, stamps } from '../statements/people.ts';
import type { PostgresDatabase } from './database.ts';
import { codeOf, FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from './errors.ts';

type Where = readonly PeopleCondition[];

export class PeopleTables implements PeopleStore {
  readonly #database: PostgresDatabase;
  readonly #statements;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#statements = database.with(peopleStatements);
  }

  async create(kind: PeopleKind, record: PeopleRecord): Promise<PeopleRecord> {
    const whole = { ...stamps(kind, 'create', true), ...known(kind, record) };
    return this.#writing(async () => (await this.#statements.create(kind, whole).get(whole)) as PeopleRecord);
  }

  async find(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return (await this.#all(kind, { where, limit: 1 }))[0] ?? null;
  }

  async findAll(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]> {
    return await this.#all(kind, query);
  }

  async count(kind: PeopleKind, where: Where): Promise<number> {
    return (await this.#statements.count(kind, where).get(boundIn(kind, where)))?.n ?? 0;
  }

  async change(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<PeopleRecord | null> {
    const changes = known(kind, patch);
    return this.#writing(async () => {
      const [found] = await this.#all(kind, { where, limit: 1 });
      return found === undefined ? null : ((await this.#change(kind, isId(found), changes))[0] ?? null);
    });
  }

  async changeAll(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<number> {
    const changes = known(kind, patch);
    return this.#writing(async () => (await this.#change(kind, where, changes)).length);
  }

  async take(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return this.#writing(async () => {
      const [found] = await this.#all(kind, { where, limit: 1 });
      if (found !== undefined) await this.#remove(kind, isId(found));
      return found ?? null;
    });
  }

  async removeAll(kind: PeopleKind, where: Where): Promise<number> {
    return this.#writing(() => this.#remove(kind, where));
  }

  async #all(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]> {
    const { where, limit, offset = 0 } = query;
    const found = await this.#statements.find(kind, query).all({ ...boundIn(kind, where), limit, offset });
    return found as PeopleRecord[];
  }

  async #change(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<PeopleRecord[]> {
    const whole = { ...stamps(kind, 'change'), ...patch };
    const changed = await this.#statements.change(kind, where, whole).all({ ...whole, ...boundIn(kind, where) });
    return changed as PeopleRecord[];
  }

  async #remove(kind: PeopleKind, where: Where): Promise<number> {
    return (await this.#statements.remove(kind, where).run(boundIn(kind, where))).changes;
  }

  async #writing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#database.write(work);
    } catch (error) {
      const code = codeOf(error);
      if (code === FOREIGN_KEY_VIOLATION) {
        throw new WinterdockError('conflict', 'There is no such person.', { cause: error });
      }
      if (code === UNIQUE_VIOLATION) {
        throw new WinterdockError('conflict', 'Another record has that id, address or token.', { cause: error });
      }
      throw error;
    }
  }
}
