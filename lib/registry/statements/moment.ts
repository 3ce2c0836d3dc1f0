/** Statements over one moment of a registry that is not opened: what a start, the doctor and a restore ask of it. */
import type { SQL } from 'drizzle-orm';
import { and, desc, eq, isNotNull, isNull, ne, not, notInArray, or, placeholder } from '../../../db/drizzle.ts';
import {
  blueprints,
  events,
  instances,
  secrets,
  settings,
  snapshots,
  storeNames,
  unclaimedFiles,
  webhooks,
} from '../../../db/schema.ts';
import type { State } from '../../lifecycle/state-map.ts';
import type { Fault } from '../../lifecycle/words.ts';
import { type INSTANCE_COLUMNS, rowsAfter } from './instance-rows.ts';
import { IS_IN_STORE, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** States in which a sandbox may have a file of its own. */
export const STATES_WITH_FILE: readonly State[] = ['suspended', 'frozen', 'archived', 'active'];
const WITHOUT_IT: Fault[] = ['missing', 'corrupt'];

type Table = typeof instances | typeof snapshots | typeof blueprints;

/** What an instance's row has: a file of an earlier version may lack columns. */
interface KnownColumns {
  columns(): typeof INSTANCE_COLUMNS;
  hasOwner(): boolean;
}

export function momentStatements(database: Pick<StatementMaker, 'statement'>, { columns, hasOwner }: KnownColumns) {
  /** One row of a table that matches the condition, or any row without one. */
  const one = <T extends Table>(table: T, where?: (table: T) => SQL | undefined) =>
    database.statement((queries) =>
      queries
        .select({ created: table.created })
        .from(table as Table)
        .where(where?.(table))
        .limit(1)
        .prepare(),
    );
  const ofHash = ({ hash }: typeof snapshots | typeof blueprints) => eq(hash, placeholder('hash'));
  const ofPath = ({ vfsPath }: typeof instances) => eq(vfsPath, placeholder('path'));
  const { tenant, instance, name, url, header, format, sealed } = secrets;
  return {
    rows: database.statement((queries) => rowsAfter(queries, columns()).prepare()),
    withFiles: database.statement((queries) => {
      const { state, vfsPath, fault, updated, ownerHost } = instances;
      const isOf = or(eq(placeholder('host'), ''), isNull(ownerHost), eq(ownerHost, placeholder('host')));
      return selectBy(queries, columns(), instances, 'instances_by_state_updated')
        .where(
          and(
            eq(state, placeholder('state')),
            isNotNull(vfsPath),
            ne(vfsPath, ':memory:').inlineParams(),
            or(isNull(fault), notInArray(fault, WITHOUT_IT)),
            hasOwner() ? isOf : undefined,
            not(IS_IN_STORE),
          ),
        )
        .orderBy(desc(updated))
        .limit(placeholder('limit'))
        .prepare();
    }),
    tenantInLedger: database.statement((queries) =>
      selectBy(queries, { tenant: events.tenant }, events, 'events_by_instance')
        .where(and(eq(events.instance, placeholder('id')), isNotNull(events.tenant), ne(events.tenant, '')))
        .orderBy(desc(events.timeMs))
        .limit(1)
        .prepare(),
    ),
    anyInstance: one(instances),
    anySnapshot: one(snapshots),
    anyBlueprint: one(blueprints),
    instance: one(instances, ({ id }) => eq(id, placeholder('id'))),
    snapshotOfHash: one(snapshots, ofHash),
    blueprintOfHash: one(blueprints, ofHash),
    instanceOfPath: one(instances, ofPath),
    keptSnapshotOfHash: one(snapshots, (table) => and(ofHash(table), isNull(table.deleted))),
    waitingOfPath: one(instances, (table) => and(ofPath(table), eq(table.state, 'created').inlineParams())),
    storeName: database.statement((queries) =>
      queries
        .select({ name: storeNames.name })
        .from(storeNames)
        .where(eq(storeNames.name, placeholder('name')))
        .prepare(),
    ),
    snapshots: database.statement((queries) =>
      queries
        .select({ name: snapshots.id, hash: snapshots.hash, file: snapshots.file })
        .from(snapshots)
        .where(isNull(snapshots.deleted))
        .prepare(),
    ),
    blueprints: database.statement((queries) =>
      queries
        .select({ name: blueprints.name, hash: blueprints.hash, file: blueprints.file })
        .from(blueprints)
        .prepare(),
    ),
    storedCopies: database.statement((queries) =>
      queries
        .select({ kind: storeNames.kind, hash: storeNames.hash })
        .from(storeNames)
        .where(and(isNotNull(storeNames.hash), eq(storeNames.state, 'current').inlineParams()))
        .prepare(),
    ),
    marks: database.statement((queries) => queries.select().from(unclaimedFiles).prepare()),
    fact: database.statement((queries) =>
      queries
        .select({ value: settings.value })
        .from(settings)
        .where(eq(settings.key, placeholder('key')))
        .prepare(),
    ),
    sealedOfGuests: database.statement((queries) =>
      queries.select({ tenant, instance, name, url, header, format, sealed }).from(secrets).prepare(),
    ),
    sealedOfWebhooks: database.statement((queries) =>
      queries.select({ id: webhooks.id, name: webhooks.name, secret: webhooks.secret }).from(webhooks).prepare(),
    ),
  };
}
