/** Workbooks: a row for each, and one for each version with its source. Knows nothing of org. */
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  isNotNull,
  lt,
  notInArray,
  or,
  placeholder,
  type Queries,
} from '../../../db/drizzle.ts';
import { instances, scheduleSyncs, workbooks, workbookVersions } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { WorkbookCondition, WorkbookRow, WorkbookStore } from '../workbooks.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { containsAnyCase, inBoundList, pastPosition } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const WORKBOOK = getTableColumns(workbooks);
const VERSION = getTableColumns(workbookVersions);
const { source: _source, plan, problemList, builder, schedules, tenant: _tenant, id: _id, ...LISTED } = VERSION;
/** What a plan builder makes of a source. */
const BUILT = {
  title: LISTED.title,
  components: LISTED.components,
  problems: LISTED.problems,
  plan,
  problemList,
  builder,
  schedules,
};

type Criterion = 'tenant' | 'tenants' | 'id' | 'hash' | 'text' | 'after';
type Row = Omit<WorkbookRow, 'docked'>;

/** The workbooks in the registry's file. */
export function openWorkbooks(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<WorkbookStore> {
  const statements = workbookStatements(database);
  const select = (by: readonly Criterion[]) =>
    database.shape(`workbooks: by ${by.join()}`, (queries) =>
      queries
        .select(WORKBOOK)
        .from(workbooks)
        .where(and(...by.map(conditionOf)))
        .orderBy(workbooks.tenant, workbooks.id)
        .limit(placeholder('limit'))
        .prepare(),
    );
  const docked = (row: Row): WorkbookRow => ({
    ...row,
    docked: statements.docked().get({ tenant: row.tenant, id: row.id })?.n ?? 0,
  });
  const find = (values: { [K in Criterion]?: unknown }, limit: number): Row[] => {
    const by = (Object.keys(values) as Criterion[]).filter((name) => values[name] !== undefined);
    return select(by).all({ ...values, tenants: JSON.stringify(values.tenants), limit });
  };
  const get = (tenant: string, id: string): WorkbookRow | null => find({ tenant, id }, 1).map(docked)[0] ?? null;

  return {
    put({ now, actor, ...content }, { keep, most }, entry, condition) {
      const { tenant, id } = content;
      const before = get(tenant, id);
      requireCondition(id, before, condition);
      if (before?.hash === content.hash) return { row: before, stored: false, created: false };
      let version = 1;
      const lines = database.write(() => {
        const current = get(tenant, id);
        requireCondition(id, current, condition);
        if (current === null) needRoom(tenant, most, statements.ofTenant().get({ tenant })?.n ?? 0);
        version = (current?.version ?? 0) + 1;
        const { title, hash, bytes, components, problems } = content;
        const row = { title, hash, bytes, components, problems, version, updated: now, updatedBy: actor };
        if (current === null) statements.insert().run({ tenant, id, ...row, created: now });
        else statements.update().run({ tenant, id, ...row });
        statements.insertVersion().run({ ...content, version, created: now, createdBy: actor });
        const old = statements.unused().all({ tenant, id, keep: version - keep + 1 });
        for (const one of old) statements.removeVersion().run({ tenant, id, version: one.version });
        return ledger.append([entry]);
      });
      ledger.announce(lines);
      const row = get(tenant, id);
      if (row === null) throw new WinterdockError('internal', `The workbook "${id}" was not stored.`);
      return { row, stored: true, created: version === 1 };
    },

    get,
    ofId: (id, tenants, limit) => find({ id, tenants: tenants ?? undefined }, limit).map(docked),
    ofHash: (tenant, hash) => find({ tenant, hash }, 1).map(docked)[0] ?? null,

    list({ tenant, tenants, text }, limit, cursor) {
      const [afterTenant, afterId] = cursor === undefined ? [] : readCursor(cursor, isPosition);
      const by = (['tenant', 'tenants', 'text'] as const).filter(
        (name) => ({ tenant, tenants, text })[name] !== undefined,
      );
      const found = select([...by, ...(afterId === undefined ? [] : (['after'] as const))]).all({
        tenant,
        tenants: JSON.stringify(tenants),
        text: text?.toLowerCase(),
        afterTenant,
        afterId,
        limit: limit + 1,
      });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      const next = found.length > limit && last ? writeCursor([last.tenant, last.id]) : null;
      return { rows: rows.map(docked), next };
    },

    version: (tenant, id, version) => statements.version().get({ tenant, id, version }) ?? null,
    planOf: (tenant, id, version) => statements.plan().get({ tenant, id, version }) ?? null,

    rebuild(rebuilt) {
      const { tenant, id, version, title, components, problems } = rebuilt;
      database.write(() => {
        const before = statements.plan().get({ tenant, id, version });
        if (before === undefined || before.builder >= rebuilt.builder) return;
        statements.rebuildVersion().run({ ...rebuilt });
        statements.rebuildNewest().run({ tenant, id, version, title, components, problems });
        for (const { instance } of statements.dockedAt().all({ tenant, id, version })) {
          statements.synchronise().run({ instance });
        }
      });
    },

    versions(tenant, id, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isVersion);
      const found = statements.versions().all({ tenant, id, before, limit: limit + 1 });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: found.length > limit && last ? writeCursor([last.version]) : null };
    },

    remove(tenant, id, entry) {
      const lines = database.write(() => {
        const row = get(tenant, id);
        if (row === null) return null;
        if (row.docked > 0) throw inUse(row);
        statements.removeVersions().run({ tenant, id });
        statements.remove().run({ tenant, id });
        return ledger.append([entry]);
      });
      ledger.announce(lines ?? []);
      return lines !== null;
    },
  };
}

function workbookStatements(database: RegistryDatabase) {
  const isIt = and(eq(workbooks.tenant, placeholder('tenant')), eq(workbooks.id, placeholder('id')));
  const isOfIt = and(eq(workbookVersions.tenant, placeholder('tenant')), eq(workbookVersions.id, placeholder('id')));
  const isVersionOfIt = and(isOfIt, eq(workbookVersions.version, placeholder('version')));
  const isDocked = and(
    eq(instances.tenant, placeholder('tenant')),
    eq(instances.workbook, placeholder('id')),
    isNotNull(instances.workbook),
    eq(instances.tombstone, 0).inlineParams(),
  );
  const pinned = (queries: Queries) =>
    queries
      .select({ version: instances.workbookVersion })
      .from(instances)
      .where(and(isDocked, isNotNull(instances.workbookVersion)));
  const { tenant: _, id: __, created: ___, ...changing } = WORKBOOK;
  return {
    insert: database.statement((queries) => queries.insert(workbooks).values(boundColumns(WORKBOOK)).prepare()),
    update: database.statement((queries) =>
      queries.update(workbooks).set(boundColumns(changing)).where(isIt).prepare(),
    ),
    insertVersion: database.statement((queries) =>
      queries.insert(workbookVersions).values(boundColumns(VERSION)).prepare(),
    ),
    ofTenant: database.statement((queries) =>
      queries
        .select({ n: count() })
        .from(workbooks)
        .where(eq(workbooks.tenant, placeholder('tenant')))
        .prepare(),
    ),
    docked: database.statement((queries) => queries.select({ n: count() }).from(instances).where(isDocked).prepare()),
    unused: database.statement((queries) =>
      queries
        .select({ version: workbookVersions.version })
        .from(workbookVersions)
        .where(
          and(
            isOfIt,
            lt(workbookVersions.version, placeholder('keep')),
            notInArray(workbookVersions.version, pinned(queries)),
          ),
        )
        .prepare(),
    ),
    version: database.statement((queries) =>
      queries.select(VERSION).from(workbookVersions).where(isVersionOfIt).prepare(),
    ),
    plan: database.statement((queries) =>
      queries
        .select({ version: VERSION.version, hash: VERSION.hash, plan, builder: VERSION.builder })
        .from(workbookVersions)
        .where(isVersionOfIt)
        .prepare(),
    ),
    versions: database.statement((queries) =>
      queries
        .select(LISTED)
        .from(workbookVersions)
        .where(and(isOfIt, lt(workbookVersions.version, placeholder('before'))))
        .orderBy(desc(workbookVersions.version))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    rebuildVersion: database.statement((queries) =>
      queries.update(workbookVersions).set(boundColumns(BUILT)).where(isVersionOfIt).prepare(),
    ),
    rebuildNewest: database.statement((queries) =>
      queries
        .update(workbooks)
        .set(boundColumns({ title: BUILT.title, components: BUILT.components, problems: BUILT.problems }))
        .where(and(isIt, eq(workbooks.version, placeholder('version'))))
        .prepare(),
    ),
    dockedAt: database.statement((queries) =>
      queries
        .select({ instance: instances.id })
        .from(instances)
        .where(and(isDocked, eq(instances.workbookVersion, placeholder('version'))))
        .prepare(),
    ),
    synchronise: database.statement((queries) =>
      queries
        .insert(scheduleSyncs)
        .values({ instance: boundValue('instance') })
        .onConflictDoNothing()
        .prepare(),
    ),
    removeVersion: database.statement((queries) => queries.delete(workbookVersions).where(isVersionOfIt).prepare()),
    removeVersions: database.statement((queries) => queries.delete(workbookVersions).where(isOfIt).prepare()),
    remove: database.statement((queries) => queries.delete(workbooks).where(isIt).prepare()),
  };
}

function conditionOf(name: Criterion) {
  switch (name) {
    case 'tenants':
      return inBoundList(workbooks.tenant, 'tenants');
    case 'text':
      return or(containsAnyCase(workbooks.id, 'text'), containsAnyCase(workbooks.title, 'text'));
    case 'after':
      return pastPosition([workbooks.tenant, workbooks.id], '>', ['afterTenant', 'afterId']);
    default:
      return eq(workbooks[name], placeholder(name));
  }
}

function requireCondition(id: string, row: WorkbookRow | null, condition: WorkbookCondition | undefined): void {
  const names = (versions: '*' | readonly number[]) =>
    row !== null && (versions === '*' || versions.includes(row.version));
  const { ifMatch, ifNoneMatch } = condition ?? {};
  if ((ifMatch === undefined || names(ifMatch)) && (ifNoneMatch === undefined || !names(ifNoneMatch))) return;
  const message = row === null ? `There is no workbook "${id}".` : `The workbook "${id}" is at version ${row.version}.`;
  throw new WinterdockError('precondition_failed', message, { hint: 'Look at it again, then decide.' });
}

function needRoom(tenant: string, most: number, used: number): void {
  if (used < most) return;
  throw new WinterdockError('quota_exceeded', `The tenant "${tenant}" has ${used} workbooks, the most there may be.`, {
    hint: 'Delete one that nothing is docked to.',
    extra: { quota: 'max_workbooks', limit: most, used },
  });
}

function inUse({ id, docked }: WorkbookRow): WinterdockError {
  const message = `The workbook "${id}" is docked in ${docked} ${docked === 1 ? 'sandbox' : 'sandboxes'}.`;
  return new WinterdockError('conflict', message, {
    hint: 'Dock those to another workbook, or to none, first.',
    extra: { docked },
  });
}

function isPosition(position: unknown[]): position is [string, string] {
  return position.length === 2 && position.every((one) => typeof one === 'string');
}

function isVersion(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}
