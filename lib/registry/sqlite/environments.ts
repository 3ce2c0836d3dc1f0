/** Variables of guests' environments. Triggers remove those of what is removed. Knows nothing of calls. */
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
import { environmentStatements } from '../statements/environments.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const RANK = new Map<EnvironmentKind, number>(ENVIRONMENT_KINDS.map((one, at) => [one, at]));

export function openEnvironments(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<EnvironmentStore> {
  const { get, ownersOf, ofOwners, put } = environmentStatements(database);
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
      const rows = ofOwners().all({ instance, tenant, snapshot, blueprint });
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
