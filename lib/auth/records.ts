/** The auth library's database adapter: translates its calls into the registry's. Knows nothing of the records. */
import { createAdapterFactory } from 'better-auth/adapters';
import {
  PEOPLE_KINDS,
  PEOPLE_OPERATORS,
  type PeopleCondition,
  type PeopleKind,
  type PeopleRecord,
  type PeopleStore,
} from '../registry/people.ts';

/** A condition as the library passes it to its database adapter. */
interface LibraryCondition {
  field: string;
  operator: string;
  value: PeopleCondition['value'];
  connector: 'AND' | 'OR';
  mode: 'sensitive' | 'insensitive';
}

/** The adapter that the library uses as its database. */
export function recordAdapter(people: PeopleStore) {
  return createAdapterFactory({
    config: { adapterId: 'winterdock', supportsNumericIds: false },
    adapter: () => ({
      create: async ({ model, data }) => asRecord(await people.create(kindOf(model), data)),
      findOne: async ({ model, where }) => asRecord(await people.find(kindOf(model), conditionsOf(where))),
      findMany: async ({ model, where, limit, offset = 0, sortBy }) => {
        const sort = sortBy && { field: sortBy.field, descending: sortBy.direction === 'desc' };
        const query = { where: conditionsOf(where), limit, offset, ...(sort && { sort }) };
        return asRecord(await people.findAll(kindOf(model), query));
      },
      count: ({ model, where }) => people.count(kindOf(model), conditionsOf(where)),
      update: async ({ model, where, update }) =>
        asRecord(await people.change(kindOf(model), conditionsOf(where), update as PeopleRecord)),
      updateMany: ({ model, where, update }) => people.changeAll(kindOf(model), conditionsOf(where), update),
      delete: async ({ model, where }) => {
        await people.removeAll(kindOf(model), conditionsOf(where));
      },
      deleteMany: ({ model, where }) => people.removeAll(kindOf(model), conditionsOf(where)),
      consumeOne: async ({ model, where }) => asRecord(await people.take(kindOf(model), conditionsOf(where))),
    }),
  });
}

/** The library expects the type that it asks for; the registry stores plain records. */
function asRecord<T>(record: unknown): T {
  return record as T;
}

function kindOf(model: string): PeopleKind {
  const kind = PEOPLE_KINDS.find((name) => name === model);
  if (kind === undefined) throw new Error(`The registry has no records of the kind "${model}".`);
  return kind;
}

function conditionsOf(where: readonly LibraryCondition[] = []): PeopleCondition[] {
  return where.map(({ field, operator: name, value, connector, mode }) => {
    const operator = PEOPLE_OPERATORS.find((one) => one === name);
    // Other operators and modes are for searching people, which none of our routes does.
    if (operator === undefined || mode !== 'sensitive')
      throw new Error(`The registry cannot filter by "${name}" (${mode}).`);
    return { field, operator, value, connector: connector === 'OR' ? 'or' : 'and' };
  });
}
