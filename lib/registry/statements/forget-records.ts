/** Statements over the rows of a tenant that is forgotten: counted for the preview, emptied, removed. */
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
import { HAS_TEXTS } from './forget-lines.ts';
import { inBoundList, rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const OF_TENANT = placeholder('tenant');

export function recordRemovalStatements(database: StatementMaker) {
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

  const itsBlueprints = database.statement((queries) =>
    queries
      .select({ name: blueprints.name })
      .from(blueprints)
      .where(eq(blueprints.tenant, OF_TENANT))
      .orderBy(blueprints.name)
      .prepare(),
  );
  const counted = (table: SQLiteTable, where: SQL | undefined) =>
    database.statement((queries) => queries.select({ n: count() }).from(table).where(where).prepare());
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
  return {
    living,
    livingSnapshots,
    itsBlueprints,
    ownersOfSnapshot,
    ownersOfBlueprint,
    empty,
    removals,
    itsSnapshots,
    itsShares,
    itsWorkbooks,
    itsKeys,
    itsLines,
    sessions,
    keptCount,
    kept,
    clones,
    first,
  };
}
