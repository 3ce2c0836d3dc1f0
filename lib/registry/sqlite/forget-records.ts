/** A forgotten tenant's own rows: counts them for the preview, then empties or removes them. */
import type { SQL } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { and, count, eq, gt, inArray, isNotNull, isNull, min, ne, or, placeholder } from '../../../db/drizzle.ts';
import {
  agents,
  blueprints,
  cpuByDay,
  environments,
  events,
  instances,
  keys,
  networkHours,
  networkRules,
  sandboxHours,
  secrets,
  seedingChunks,
  session,
  shares,
  snapshots,
  starts,
  tenantHours,
  tenants,
  volumesByTenant,
  webhooks,
  workbooks,
  workbookVersions,
} from '../../../db/schema.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import { HAS_TEXTS } from './forget-lines.ts';
import { inBoundList, rowid } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

type Holdings = Awaited<ReturnType<TenantForgettingStore['holdings']>>;
type Access = 'people' | 'sessions' | 'limited' | 'invitations';
type Steps = 'living' | 'snapshots' | 'blueprints' | 'ownersOfCopy' | 'emptyTombstones' | 'removeRecords';

const OF_TENANT = placeholder('tenant');

export function openRecordRemoval(database: RegistryDatabase, textsRemoved: () => void) {
  const { holdings, sessionsOf } = holdingsOf(database);
  const living = database.statement((queries) =>
    queries
      .select({ id: instances.id })
      .from(instances)
      .where(and(eq(instances.tenant, OF_TENANT), eq(instances.tombstone, 0).inlineParams()))
      .orderBy(rowid(instances))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const livingSnapshots = database.statement((queries) =>
    queries
      .select({ id: snapshots.id })
      .from(snapshots)
      .where(and(eq(snapshots.tenant, OF_TENANT), isNull(snapshots.deleted)))
      .prepare(),
  );
  const itsBlueprints = blueprintsOf(database);
  const ownersOfSnapshot = database.statement((queries) =>
    queries
      .selectDistinct({ tenant: snapshots.tenant })
      .from(snapshots)
      .where(eq(snapshots.hash, placeholder('hash')))
      .prepare(),
  );
  const ownersOfBlueprint = database.statement((queries) =>
    queries
      .selectDistinct({ tenant: blueprints.tenant })
      .from(blueprints)
      .where(eq(blueprints.hash, placeholder('hash')))
      .prepare(),
  );
  const empty = database.statement((queries) => {
    const { name, labels, words, workbook, faultReason, file, bytes } = instances;
    const { lineageBlueprint, lineageSnapshot, lineageParent } = instances;
    const texts = [name, workbook, faultReason, file, bytes, lineageBlueprint, lineageSnapshot, lineageParent];
    const some = queries
      .select({ id: instances.id })
      .from(instances)
      .where(
        and(
          eq(instances.tenant, OF_TENANT),
          eq(instances.tombstone, 1).inlineParams(),
          or(...texts.map(isNotNull), ne(labels, {}), ne(words, '')),
        ),
      )
      .limit(placeholder('limit'));
    return queries
      .update(instances)
      .set({
        name: null,
        labels: {},
        words: '',
        workbook: null,
        workbookVersion: null,
        fault: null,
        faultReason: null,
        file: null,
        vfsPath: null,
        bytes: null,
        pending: null,
        lineageBlueprint: null,
        lineageSnapshot: null,
        lineageParent: null,
      })
      .where(inArray(instances.id, some))
      .prepare();
  });
  const removal = (table: SQLiteTable, where: SQL) =>
    database.statement((queries) => queries.delete(table).where(where).prepare());
  const removals = {
    snapshots: removal(snapshots, eq(snapshots.tenant, OF_TENANT)),
    agents: removal(agents, eq(agents.tenant, OF_TENANT)),
    shares: removal(shares, eq(shares.tenant, OF_TENANT)),
    seeding: removal(seedingChunks, eq(seedingChunks.tenant, OF_TENANT)),
    workbooks: removal(workbooks, eq(workbooks.tenant, OF_TENANT)),
    workbookVersions: removal(workbookVersions, eq(workbookVersions.tenant, OF_TENANT)),
    webhooks: removal(webhooks, eq(webhooks.tenant, OF_TENANT)),
    environments: removal(environments, eq(environments.tenant, OF_TENANT)),
    secrets: removal(secrets, eq(secrets.tenant, OF_TENANT)),
    networkRules: removal(networkRules, eq(networkRules.tenant, OF_TENANT)),
    networkHours: removal(networkHours, eq(networkHours.tenant, OF_TENANT)),
    starts: removal(starts, eq(starts.tenant, OF_TENANT)),
    tenants: removal(tenants, eq(tenants.tenant, OF_TENANT)),
    volumes: removal(volumesByTenant, eq(volumesByTenant.tenant, OF_TENANT)),
    cpu: removal(cpuByDay, eq(cpuByDay.tenant, OF_TENANT)),
    hours: removal(tenantHours, eq(tenantHours.tenant, OF_TENANT)),
    sandboxHours: database.statement((queries) =>
      queries
        .delete(sandboxHours)
        .where(
          inArray(
            sandboxHours.instanceRow,
            queries
              .select({ row: rowid(instances) })
              .from(instances)
              .where(eq(instances.tenant, OF_TENANT)),
          ),
        )
        .prepare(),
    ),
  };

  const steps: Pick<SyncMethods<TenantForgettingStore>, Steps> = {
    living: (tenant, limit) =>
      living()
        .all({ tenant, limit })
        .map(({ id }) => id),
    snapshots: (tenant) =>
      livingSnapshots()
        .all({ tenant })
        .map(({ id }) => id),
    blueprints: itsBlueprints,
    ownersOfCopy(hash) {
      const found = [...ownersOfSnapshot().all({ hash }), ...ownersOfBlueprint().all({ hash })];
      // An uploaded blueprint has no tenant; the empty name marks it as another owner's.
      return [...new Set(found.map(({ tenant }) => tenant ?? ''))];
    },
    emptyTombstones(tenant, limit) {
      const { changes } = database.write(() => empty().run({ tenant, limit }));
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
  return { steps, holdings, sessionsOf };
}

/** Names of the tenant's blueprints, in order. */
function blueprintsOf(database: RegistryDatabase): (tenant: string) => string[] {
  const statement = database.statement((queries) =>
    queries
      .select({ name: blueprints.name })
      .from(blueprints)
      .where(eq(blueprints.tenant, OF_TENANT))
      .orderBy(blueprints.name)
      .prepare(),
  );
  return (tenant) =>
    statement()
      .all({ tenant })
      .map(({ name }) => name);
}

function holdingsOf(database: RegistryDatabase) {
  const counted = (table: SQLiteTable, where: SQL | undefined) => {
    const statement = database.statement((queries) =>
      queries.select({ n: count() }).from(table).where(where).prepare(),
    );
    return (values: Record<string, unknown>) => statement().get(values)?.n ?? 0;
  };
  const itsSnapshots = counted(snapshots, and(eq(snapshots.tenant, OF_TENANT), isNull(snapshots.deleted)));
  const itsShares = counted(shares, eq(shares.tenant, OF_TENANT));
  const itsWorkbooks = counted(workbooks, eq(workbooks.tenant, OF_TENANT));
  const itsKeys = counted(keys, and(eq(keys.tenant, OF_TENANT), isNull(keys.revoked)));
  const itsLines = counted(events, and(eq(events.tenant, OF_TENANT), HAS_TEXTS));
  const sessions = counted(session, inBoundList(session.userId, 'people'));
  const isKept = and(
    eq(instances.tenant, OF_TENANT),
    eq(instances.tombstone, 0).inlineParams(),
    or(eq(instances.keepHot, true), gt(instances.holdUntil, placeholder('now'))),
  );
  const keptCount = counted(instances, isKept);
  const kept = database.statement((queries) =>
    queries
      .select({ id: instances.id, name: instances.name, state: instances.state, keepHot: instances.keepHot })
      .from(instances)
      .where(isKept)
      .orderBy(rowid(instances))
      .limit(placeholder('most'))
      .prepare(),
  );
  const clones = database.statement((queries) => {
    const itsNames = queries.select({ name: blueprints.name }).from(blueprints).where(eq(blueprints.tenant, OF_TENANT));
    const itsIds = queries.select({ id: snapshots.id }).from(snapshots).where(eq(snapshots.tenant, OF_TENANT));
    return queries
      .select({ n: count() })
      .from(instances)
      .where(
        and(
          eq(instances.tombstone, 0).inlineParams(),
          ne(instances.tenant, OF_TENANT),
          or(inArray(instances.lineageBlueprint, itsNames), inArray(instances.lineageSnapshot, itsIds)),
        ),
      )
      .prepare();
  });
  const first = database.statement((queries) =>
    queries
      .select({ created: min(instances.created) })
      .from(instances)
      .where(eq(instances.tenant, OF_TENANT))
      .prepare(),
  );
  const itsBlueprints = blueprintsOf(database);
  return {
    /** Open sessions of some people, by their ids. */
    sessionsOf: (people: string[]) => sessions({ people: JSON.stringify(people) }),
    holdings: (tenant: string, now: number, most: number): Omit<Holdings, Access | 'jobs'> => ({
      snapshots: itsSnapshots({ tenant }),
      blueprints: itsBlueprints(tenant),
      shares: itsShares({ tenant }),
      workbooks: itsWorkbooks({ tenant }),
      keys: itsKeys({ tenant }),
      // Lines of any job count: a job of its own is found by its type.
      lines: itsLines({ tenant, job: '' }),
      clones: clones().get({ tenant })?.n ?? 0,
      kept: kept()
        .all({ tenant, now, most })
        .map(({ keepHot, ...one }) => ({ ...one, why: keepHot ? 'keep_hot' : 'held' })),
      keptCount: keptCount({ tenant, now }),
      first: first().get({ tenant })?.created ?? null,
    }),
  };
}
