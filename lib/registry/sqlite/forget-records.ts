/** A forgotten tenant's own rows: counts them for the preview, then empties or removes them. */
import { recordRemovalStatements } from '../statements/forget-records.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

type Holdings = Awaited<ReturnType<TenantForgettingStore['holdings']>>;
type Access = 'people' | 'sessions' | 'limited' | 'invitations';
type Steps = 'living' | 'snapshots' | 'blueprints' | 'ownersOfCopy' | 'emptyTombstones' | 'removeRecords';

export function openRecordRemoval(database: RegistryDatabase, textsRemoved: () => void) {
  const statements = recordRemovalStatements(database);
  const { removals } = statements;
  /** Names of the tenant's blueprints, in order. */
  const blueprintsOf = (tenant: string): string[] =>
    statements
      .itsBlueprints()
      .all({ tenant })
      .map(({ name }) => name);

  const steps: Pick<SyncMethods<TenantForgettingStore>, Steps> = {
    living: (tenant, limit) =>
      statements
        .living()
        .all({ tenant, limit })
        .map(({ id }) => id),
    snapshots: (tenant) =>
      statements
        .livingSnapshots()
        .all({ tenant })
        .map(({ id }) => id),
    blueprints: blueprintsOf,
    ownersOfCopy(hash) {
      const found = [...statements.ownersOfSnapshot().all({ hash }), ...statements.ownersOfBlueprint().all({ hash })];
      // An uploaded blueprint has no tenant; the empty name marks it as another owner's.
      return [...new Set(found.map(({ tenant }) => tenant ?? ''))];
    },
    emptyTombstones(tenant, limit) {
      const { changes } = database.write(() => statements.empty().run({ tenant, limit }));
      textsRemoved();
      return changes > 0;
    },
    removeRecords: (tenant) =>
      database.write(() => {
        const gone = {
          snapshots: removals.snapshots().run({ tenant }).changes,
          shares: removals.shares().run({ tenant }).changes,
          workbooks: removals.workbooks().run({ tenant }).changes,
        };
        const { snapshots: _snapshots, shares: _shares, workbooks: _workbooks, ...others } = removals;
        for (const rest of Object.values(others)) rest().run({ tenant });
        return gone;
      }),
  };
  return {
    steps,
    /** Open sessions of some people, by their ids. */
    sessionsOf: (people: string[]): number => statements.sessions().get({ people: JSON.stringify(people) })?.n ?? 0,
    holdings: (tenant: string, now: number, most: number): Omit<Holdings, Access | 'jobs'> => ({
      snapshots: statements.itsSnapshots().get({ tenant })?.n ?? 0,
      blueprints: blueprintsOf(tenant),
      shares: statements.itsShares().get({ tenant })?.n ?? 0,
      workbooks: statements.itsWorkbooks().get({ tenant })?.n ?? 0,
      keys: statements.itsKeys().get({ tenant })?.n ?? 0,
      // Lines of any job count: a job of its own is found by its type.
      lines: statements.itsLines().get({ tenant, job: '' })?.n ?? 0,
      clones: statements.clones().get({ tenant })?.n ?? 0,
      kept: statements
        .kept()
        .all({ tenant, now, most })
        .map(({ keepHot, ...one }) => ({ ...one, why: keepHot ? 'keep_hot' : 'held' })),
      keptCount: statements.keptCount().get({ tenant, now })?.n ?? 0,
      first: statements.first().get({ tenant })?.created ?? null,
    }),
  };
}
