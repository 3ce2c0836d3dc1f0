/** Statements over secrets, which are stored encrypted. */
import { and, count, eq, getTableColumns, inArray, placeholder } from '../../../db/drizzle.ts';
import { instances, secrets } from '../../../db/schema.ts';
import type { SecretKey } from '../secrets.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const COLUMNS = getTableColumns(secrets);
const { tenant, instance, name } = secrets;

/** What identifies a secret. */
export const secretKeyOf = (key: SecretKey) => ({ tenant: key.tenant, instance: key.instance, name: key.name });

export function secretStatements(database: StatementMaker) {
  const ofOwner = and(eq(tenant, placeholder('tenant')), eq(instance, placeholder('instance')));
  const isIt = and(ofOwner, eq(name, placeholder('name')));
  const get = database.statement((queries) => queries.select(COLUMNS).from(secrets).where(isIt).prepare());
  const list = database.statement((queries) =>
    queries.select(COLUMNS).from(secrets).where(ofOwner).orderBy(name).prepare(),
  );
  const usable = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(secrets)
      .where(and(eq(tenant, placeholder('tenant')), inArray(instance, [placeholder('none'), placeholder('instance')])))
      .orderBy(instance, name)
      .prepare(),
  );
  const all = database.statement((queries) =>
    queries.select(COLUMNS).from(secrets).orderBy(tenant, instance, name).prepare(),
  );
  const countOf = database.statement((queries) =>
    queries.select({ n: count() }).from(secrets).where(ofOwner).prepare(),
  );
  const put = database.statement((queries) => {
    const { tenant: _tenant, instance: _instance, name: _name, created: _at, createdBy: _by, ...changed } = COLUMNS;
    return queries
      .insert(secrets)
      .values(boundColumns(COLUMNS))
      .onConflictDoUpdate({ target: [tenant, instance, name], set: boundColumns(changed) })
      .prepare();
  });
  const remove = database.statement((queries) => queries.delete(secrets).where(isIt).prepare());
  const reseal = database.statement((queries) =>
    queries
      .update(secrets)
      .set({ sealed: boundValue('sealed') })
      .where(and(isIt, eq(secrets.sealed, placeholder('from'))))
      .prepare(),
  );
  const used = database.statement((queries) =>
    queries
      .update(secrets)
      .set({ lastUsed: boundValue('now') })
      .where(isIt)
      .prepare(),
  );
  const stateOf = database.statement((queries) =>
    queries
      .select({ state: instances.state })
      .from(instances)
      .where(eq(instances.id, placeholder('instance')))
      .prepare(),
  );
  return {
    get,
    list,
    usable,
    all,
    countOf,
    put,
    remove,
    reseal,
    used,
    stateOf,
  };
}
