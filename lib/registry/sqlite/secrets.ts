/** Rows of secrets. A trigger removes those of a deleted sandbox. Stores what is encrypted, and cannot read it. */
import { and, count, eq, getTableColumns, inArray, placeholder } from '../../../db/drizzle.ts';
import { instances, secrets } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { SecretKey, SecretRow, SecretStore } from '../secrets.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const COLUMNS = getTableColumns(secrets);
const { tenant, instance, name } = secrets;

export function openSecrets(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<SecretStore> {
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
  const keyOf = (key: SecretKey) => ({ tenant: key.tenant, instance: key.instance, name: key.name });

  return {
    put(secret, { now, actor }, most, entry) {
      const [result, lines] = database.write(() => {
        const state = secret.instance === '' ? 'created' : stateOf().get({ instance: secret.instance })?.state;
        if (state === undefined || state === 'deleted')
          throw new WinterdockError('gone', `The sandbox "${secret.instance}" was deleted.`);
        const before = get().get(keyOf(secret));
        if (before === undefined && (countOf().get(keyOf(secret))?.n ?? 0) >= most) throw tooMany(secret, most);
        const row: SecretRow = {
          ...secret,
          created: before?.created ?? now,
          createdBy: before?.createdBy ?? actor,
          updated: now,
          updatedBy: actor,
          lastUsed: null,
        };
        put().run({ ...row });
        return [{ row, created: before === undefined }, ledger.append([entry])] as const;
      });
      ledger.announce(lines);
      return result;
    },
    list: (ofTenant, ofInstance) => list().all({ tenant: ofTenant, instance: ofInstance }),
    usable: (ofTenant, ofInstance) => usable().all({ tenant: ofTenant, instance: ofInstance, none: '' }),
    all: () => all().all(),
    remove(key, entry) {
      const [removed, lines] = database.write(() => {
        const gone = remove().run(keyOf(key)).changes === 1;
        return [gone, gone ? ledger.append([entry]) : []] as const;
      });
      ledger.announce(lines);
      return removed;
    },
    reseal: (changes) =>
      database.write(() =>
        changes.reduce(
          (sum, { from, sealed, ...key }) => sum + reseal().run({ ...keyOf(key), from, sealed }).changes,
          0,
        ),
      ),
    used: (key, now) => database.writeWithoutSync(() => void used().run({ ...keyOf(key), now })),
  };
}

function tooMany({ tenant: ofTenant, instance: ofInstance }: SecretKey, most: number): WinterdockError {
  const whose = ofInstance === '' ? `The tenant "${ofTenant}"` : `The sandbox "${ofInstance}"`;
  return new WinterdockError('quota_exceeded', `${whose} may have ${most} secrets, and has that many.`, {
    hint: 'Remove one that is not used.',
    extra: { quota: 'secrets', limit: most, used: most },
  });
}
