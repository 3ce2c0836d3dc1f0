/** A forgotten tenant's own rows: counts them for the preview, then empties or removes them. */
import { recordRemovalStatements } from '../statements/forget-records.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';

type Holdings = Awaited<ReturnType<TenantForgettingStore['holdings']>>;
type Access = 'people' | 'sessions' | 'limited' | 'invitations';
type Steps = 'living' | 'snapshots' | 'blueprints' | 'ownersOfCopy' | 'emptyTombstones' | 'removeRecords';

export function openRecordRemoval(database: PostgresDatabase) {
  const statements = database.with(recordRemovalStatements);
  const { removals } = statements;
  /** Names of the tenant's blueprints, in order. */
  const blueprintsOf = async (tenant: string): Promise<string[]> =>
    (await statements.itsBlueprints().all({ tenant })).map(({ name }) => name);

  const steps: Pick<TenantForgettingStore, Steps> = {
    living: async (tenant, limit) => (await statements.living().all({ tenant, limit })).map(({ id }) => id),
    snapshots: async (tenant) => (await statements.livingSnapshots().all({ tenant })).map(({ id }) => id),
    blueprints: blueprintsOf,
    async ownersOfCopy(hash) {
      const found = [
        ...(await statements.ownersOfSnapshot().all({ hash })),
        ...(await statements.ownersOfBlueprint().all({ hash })),
      ];
      // An uploaded blueprint has no tenant; the empty name marks it as another owner's.
      return [...new Set(found.map(({ tenant }) => tenant ?? ''))];
    },
    async emptyTombstones(tenant, limit) {
      return (await statements.empty().run({ tenant, limit })).changes > 0;
    },
    removeRecords: (tenant) =>
      database.write(async () => {
        const gone = {
          snapshots: (await removals.snapshots().run({ tenant })).changes,
          shares: (await removals.shares().run({ tenant })).changes,
          workbooks: (await removals.workbooks().run({ tenant })).changes,
        };
        const { snapshots: _snapshots, shares: _shares, workbooks: _workbooks, ...others } = removals;
        for (const rest of Object.values(others)) await rest().run({ tenant });
        return gone;
      }),
  };
  return {
    steps,
    /** Open sessions of some people, by their ids. */
    sessionsOf: async (people: string[]): Promise<number> =>
      (await statements.sessions().get({ people: JSON.stringify(people) }))?.n ?? 0,
    holdings: async (tenant: string, now: number, most: number): Promise<Omit<Holdings, Access | 'jobs'>> => ({
      snapshots: (await statements.itsSnapshots().get({ tenant }))?.n ?? 0,
      blueprints: await blueprintsOf(tenant),
      shares: (await statements.itsShares().get({ tenant }))?.n ?? 0,
      workbooks: (await statements.itsWorkbooks().get({ tenant }))?.n ?? 0,
      keys: (await statements.itsKeys().get({ tenant }))?.n ?? 0,
      // Lines of any job count: a job of its own is found by its type.
      lines: (await statements.itsLines().get({ tenant, job: '' }))?.n ?? 0,
      clones: (await statements.clones().get({ tenant }))?.n ?? 0,
      kept: (await statements.kept().all({ tenant, now, most })).map(({ keepHot, ...one }) => ({
        ...one,
        why: keepHot ? 'keep_hot' : 'held',
      })),
      keptCount: (await statements.keptCount().get({ tenant, now }))?.n ?? 0,
      first: (await statements.first().get({ tenant }))?.created ?? null,
    }),
  };
}
