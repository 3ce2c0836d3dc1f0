/** Where the auth library keeps its records: its calls, as the registry's. Knows nothing of what is in them. */
import { createAdapterFactory } from 'better-auth/adapters';
import {
  PEOPLE_KINDS,
  PEOPLE_OPERATORS,
  type PeopleCondition,
  type PeopleKind,
  type PeopleRecord,
  type PeopleStore,
} from '../registry/people.ts';

/** A condition as the library gives it to whoever keeps its records. */
interface Asked {
  field: string;
  operator: string;
  value: PeopleCondition['value'];
  connector: 'AND' | 'OR';
  mode: 'sensitive' | 'insensitive';
}

/** What the library takes for its database. */
export function recordsIn(people: PeopleStore) {
  return createAdapterFactory({
    config: { adapterId: 'winterdock', supportsNumericIds: false },
    adapter: () => ({
      create: async ({ model, data }) => as(await people.create(kindOf(model), data)),
      findOne: async ({ model, where }) => as(await people.find(kindOf(model), conditionsOf(where))),
      findMany: async ({ model, where, limit, offset = 0, sortBy }) => {
        const sort = sortBy && { field: sortBy.field, descending: sortBy.direction === 'desc' };
        const query = { where: conditionsOf(where), limit, offset, ...(sort && { sort }) };
        return as(await people.findAll(kindOf(model), query));
      },
      count: ({ model, where }) => people.count(kindOf(model), conditionsOf(where)),
      update: async ({ model, where, update }) =>
        as(await people.change(kindOf(model), conditionsOf(where), update as PeopleRecord)),
      updateMany: ({ model, where, update }) => people.changeAll(kindOf(model), conditionsOf(where), update),
      delete: async ({ model, where }) => {
        await people.removeAll(kindOf(model), conditionsOf(where));
      },
      deleteMany: ({ model, where }) => people.removeAll(kindOf(model), conditionsOf(where)),
      consumeOne: async ({ model, where }) => as(await people.take(kindOf(model), conditionsOf(where))),
    }),
  });
}

/** The library says what a record is of by what it asks for. */
function as<T>(kept: unknown): T {
  return kept as T;
}

function kindOf(model: string): PeopleKind {
  const kind = PEOPLE_KINDS.find((known) => known === model);
  if (kind === undefined) throw new Error(`Nothing of the kind "${model}" is kept.`);
  return kind;
}

function conditionsOf(where: readonly Asked[] = []): PeopleCondition[] {
  return where.map(({ field, operator: asked, value, connector, mode }) => {
    const operator = PEOPLE_OPERATORS.find((known) => known === asked);
    // Both are for searching among people, which is no route of ours.
    if (operator === undefined || mode !== 'sensitive') throw new Error(`No record is found by "${asked}" (${mode}).`);
    return { field, operator, value, connector: connector === 'OR' ? 'or' : 'and' };
  });
}
