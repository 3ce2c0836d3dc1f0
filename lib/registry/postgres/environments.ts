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
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

const RANK = new Map<EnvironmentKind, number>(ENVIRONMENT_KINDS.map((one, at) => [one, at]));

export function openEnvironments(database: PostgresDatabase, ledger: LedgerTable): EnvironmentStore {
  const { get, ownersOf, of, put } = database.with(environmentStatements);
  const row = async (which: Pick<EnvironmentOwner, 'kind' | 'owner'>): Promise<EnvironmentRow | null> =>
    (await get().get({ kind: which.kind, owner: which.owner })) ?? null;
  const write = async (
    whose: EnvironmentOwner,
    variables: Variables,
    by: { now: number; actor: string },
  ): Promise<EnvironmentRow> => {
    requireSmall(variables);
    if (whose.kind === 'instance') {
      const state = (await ownersOf().get({ instance: whose.owner }))?.state;
      if (state === undefined || state === 'deleted')
        throw new WinterdockError('gone', `The sandbox "${whose.owner}" was deleted.`);
    }
    const sorted = Object.fromEntries(Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1)));
    const after = { ...whose, variables: sorted, updated: by.now, updatedBy: by.actor };
    await put().run(after);
    return after;
  };

  return {
    get: (which, name) => row({ kind: which, owner: name }),
    async of(instance) {
      const rows = await of().all({ instance });
      return rows.length < 2 ? rows : rows.sort((a, b) => (RANK.get(a.kind) ?? 0) - (RANK.get(b.kind) ?? 0));
    },
    change: (whose, { set, remove }, by, entry) =>
      ledger.recorded([entry], async () => {
        const merged: Record<string, string | null> = { ...(await row(whose))?.variables, ...set };
        for (const name of remove) delete merged[name];
        return write(whose, merged, by);
      }),
    async want(whose, names, by) {
      if (names.length === 0) return;
      await database.write(async () => {
        const wanted = Object.fromEntries(names.map((name) => [name, null]));
        await write(whose, { ...wanted, ...(await row(whose))?.variables }, by);
      });
    },
  };
}
