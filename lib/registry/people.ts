/**
 * The records of the auth library: people, their sessions, their accounts (a password is one) and its pending tokens
 * (of sign-ins). The registry stores these records and finds them by their fields; their meaning is the library's.
 */

export const PEOPLE_KINDS = ['user', 'session', 'account', 'verification'] as const;

/** The kinds of records. Sessions and accounts have the `userId` of their user, and are deleted with it. */
export type PeopleKind = (typeof PEOPLE_KINDS)[number];

type PeopleValue = string | number | boolean | Date | null;

/** The fields of a record; each record has an `id`. Times are dates, to the millisecond. */
export type PeopleRecord = Record<string, PeopleValue>;

export const PEOPLE_OPERATORS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in'] as const;

/** Null equals null; otherwise every comparison with it is false. */
export interface PeopleCondition {
  field: string;
  operator: (typeof PEOPLE_OPERATORS)[number];
  /** A list only for `in` and `not_in`. */
  value: PeopleValue | readonly (string | number)[];
  /** A record matches when all conditions of `and` hold, and at least one of `or`, if there are any. */
  connector: 'and' | 'or';
}

export interface PeopleQuery {
  /** Empty: every record. */
  where: readonly PeopleCondition[];
  limit: number;
  offset?: number;
  sort?: { field: string; descending: boolean };
}

/** Every write is on disk when its promise resolves. Throws for a field that the kind does not have. */
export interface PeopleStore {
  /**
   * Stores a record and returns it with its defaults. Throws `conflict` when its id, address or token is taken, or its
   * user does not exist.
   */
  create(kind: PeopleKind, record: PeopleRecord): Promise<PeopleRecord>;
  /** One record that matches the conditions, or null. */
  find(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<PeopleRecord | null>;
  findAll(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]>;
  count(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<number>;
  /**
   * Changes one record that matches the conditions and returns it; null when there is none. Throws `conflict` as
   * `create` does.
   */
  change(kind: PeopleKind, where: readonly PeopleCondition[], patch: PeopleRecord): Promise<PeopleRecord | null>;
  /** Returns the number of changed records. */
  changeAll(kind: PeopleKind, where: readonly PeopleCondition[], patch: PeopleRecord): Promise<number>;
  /** Removes one record and returns it. Of concurrent callers exactly one gets it, the others null. */
  take(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<PeopleRecord | null>;
  /** Returns the number of removed records. */
  removeAll(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<number>;
}
