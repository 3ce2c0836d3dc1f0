/**
 * What the auth library keeps: people, their sessions, their accounts (a password is one) and what it waits to see
 * again (sign-in tokens). The registry keeps these records and finds them by their fields; what they mean is the
 * library's business alone.
 */

export const PEOPLE_KINDS = ['user', 'session', 'account', 'verification'] as const;

/** What a record is of. A session and an account have the `userId` of their user, and go with it. */
export type PeopleKind = (typeof PEOPLE_KINDS)[number];

type PeopleValue = string | number | boolean | Date | null;

/** A record by its fields; each has an `id`. Times are dates, to the millisecond. */
export type PeopleRecord = Record<string, PeopleValue>;

export const PEOPLE_OPERATORS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in'] as const;

/** Null is equal to null; otherwise it is neither equal nor unequal to anything, smaller or greater. */
export interface PeopleCondition {
  field: string;
  operator: (typeof PEOPLE_OPERATORS)[number];
  /** A list exactly for `in` and `not_in`. */
  value: PeopleValue | readonly (string | number)[];
  /** All those of `and` hold, and of those of `or` one, when there are any. */
  connector: 'and' | 'or';
}

export interface PeopleQuery {
  /** None: every record. */
  where: readonly PeopleCondition[];
  limit: number;
  offset?: number;
  sort?: { field: string; descending: boolean };
}

/** Every write is on disk when its promise is fulfilled. Throws for a field that the records of a kind have not. */
export interface PeopleStore {
  /**
   * Gives it as it is kept, with what was left out. Throws `conflict` when its id, address or token is taken, or its
   * user is not there.
   */
  create(kind: PeopleKind, record: PeopleRecord): Promise<PeopleRecord>;
  /** One that the conditions hold for, or null. */
  find(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<PeopleRecord | null>;
  findAll(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]>;
  count(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<number>;
  /**
   * Changes one that the conditions hold for and gives it as it is then; null when there is none. Throws `conflict` as
   * `create` does.
   */
  change(kind: PeopleKind, where: readonly PeopleCondition[], patch: PeopleRecord): Promise<PeopleRecord | null>;
  /** How many were changed. */
  changeAll(kind: PeopleKind, where: readonly PeopleCondition[], patch: PeopleRecord): Promise<number>;
  /** Removes one and gives it; of callers that take the same one a single one gets it, the others null. */
  take(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<PeopleRecord | null>;
  /** How many were removed. */
  removeAll(kind: PeopleKind, where: readonly PeopleCondition[]): Promise<number>;
}
