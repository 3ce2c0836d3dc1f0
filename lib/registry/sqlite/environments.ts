/** Variables of guests' environments. Triggers remove those of what is removed. Knows nothing of calls. */
import { and, eq, getTableColumns, or, placeholder } from '../../../db/drizzle.ts';
import { environments, instances } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import {
  ENVIRONMENT_KINDS,
  type EnvironmentKind,
  type EnvironmentOwner,
  type EnvironmentRow,
  type EnvironmentStore,
  requireSmall,
  type Variables,
} from '../environments.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const { kind, owner } = environments;
const COLUMNS = getTableColumns(environments);
const RANK = new Map<EnvironmentKind, number>(ENVIRONMENT_KINDS.map((one, at) => [one, at]));

export function openEnvironments(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<EnvironmentStore> {
  const is = (one: EnvironmentKind, name: string) => and(eq(kind, one).inlineParams(), eq(owner, placeholder(name)));
  const get = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(environments)
      .where(and(eq(kind, placeholder('kind')), eq(owner, placeholder('owner'))))
      .prepare(),
  );
  const ownersOf = database.statement((queries) =>
    queries
      .select({
        tenant: instances.tenant,
        snapshot: instances.lineageSnapshot,
        blueprint: instances.lineageBlueprint,
        state: instances.state,
      })
      .from(instances)
      .where(eq(instances.id, placeholder('instance')))
      .prepare(),
  );
  const of = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(environments)
      .where(or(is('snapshot', 'snapshot'), is('tenant', 'tenant'), is('blueprint', 'blueprint'), is('instance', 'id')))
      .prepare(),
  );
  const put = database.statement((queries) =>
    queries
      .insert(environments)
      .values(boundColumns(COLUMNS))
      .onConflictDoUpdate({
        target: [kind, owner],
        set: {
          variables: boundValue('variables'),
          updated: boundValue('updated'),
          updatedBy: boundValue('updatedBy'),
        },
      })
      .prepare(),
  );

  const row = (which: Pick<EnvironmentOwner, 'kind' | 'owner'>): EnvironmentRow | null =>
    get().get({ kind: which.kind, owner: which.owner }) ?? null;
  const write = (whose: EnvironmentOwner, variables: Variables, by: { now: number; actor: string }): EnvironmentRow => {
    requireSmall(variables);
    if (whose.kind === 'instance') {
      const state = ownersOf().get({ instance: whose.owner })?.state;
      if (state === undefined || state === 'deleted')
        throw new WinterdockError('gone', `The sandbox "${whose.owner}" was deleted.`);
    }
    const sorted = Object.fromEntries(Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1)));
    const after = { ...whose, variables: sorted, updated: by.now, updatedBy: by.actor };
    put().run(after);
    return after;
  };

  return {
    get: (which, name) => row({ kind: which, owner: name }),
    of(instance) {
      const owners = ownersOf().get({ instance });
      if (owners === undefined) return [];
      const { tenant, snapshot, blueprint } = owners;
      const rows = of().all({ id: instance, tenant, snapshot, blueprint });
      return rows.length < 2 ? rows : rows.sort((a, b) => (RANK.get(a.kind) ?? 0) - (RANK.get(b.kind) ?? 0));
    },
    change(whose, { set, remove }, by, entry) {
      const [after, lines] = database.write(() => {
        const merged: Record<string, string | null> = { ...row(whose)?.variables, ...set };
        for (const name of remove) delete merged[name];
        return [write(whose, merged, by), ledger.append([entry])] as const;
      });
      ledger.announce(lines);
      return after;
    },
    want(whose, names, by) {
      if (names.length === 0) return;
      database.write(() => {
        const wanted = Object.fromEntries(names.map((name) => [name, null]));
        write(whose, { ...wanted, ...row(whose)?.variables }, by);
      });
    },
  };
}
