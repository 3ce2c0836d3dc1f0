/** Statements of changes of a row beside that of its columns. */
import type { SQL } from 'drizzle-orm';
import { and, eq, getTableColumns, isNull, or, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances, instanceVolumes, tenantForgettings } from '../../../db/schema.ts';
import type { InstanceStore } from '../instances.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { isSame, rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const { ownerHost, ownerTerm, ownerToken, seriesTerm, seriesHostTerm, writeId } = instances;

/**
 * Compare-and-set of an intent, where all of `also` is so too; `isOrdered`: and of what orders the series of its
 * replica.
 */
export function beginIntent(queries: Queries, isOrdered: boolean, ...also: SQL[]) {
  const order = isOrdered ? boundColumns({ seriesTerm, seriesHostTerm }) : {};
  const asRead = isOrdered ? [isSame(seriesTerm, 'wasSeriesTerm'), isSame(seriesHostTerm, 'wasSeriesHostTerm')] : [];
  return queries
    .update(instances)
    .set({ pending: boundValue('intent'), ...boundColumns({ ownerHost, ownerTerm, ownerToken, writeId }), ...order })
    .where(
      and(
        eq(instances.id, placeholder('id')),
        eq(instances.state, placeholder('from')),
        eq(instances.generation, placeholder('generation')),
        isNull(instances.pending),
        or(isNull(ownerToken), eq(ownerToken, placeholder('ownerToken'))),
        or(isNull(ownerHost), eq(ownerHost, placeholder('ownerHost'))),
        ...asRead,
        ...also,
      ),
    );
}

/** The values of an order for that statement. */
export function boundOrder(order: NonNullable<Parameters<InstanceStore['begin']>[2]>['order']) {
  if (order === undefined) return {};
  const { was, is } = order;
  return { ...is, wasSeriesTerm: was.seriesTerm, wasSeriesHostTerm: was.seriesHostTerm };
}

export function writeStatements(database: StatementMaker) {
  const { instanceRow, tenant, ...volumes } = getTableColumns(instanceVolumes);
  return {
    begin: database.statement((queries) => beginIntent(queries, false).prepare()),
    beginOrdered: database.statement((queries) => beginIntent(queries, true).prepare()),
    beingForgotten: database.statement((queries) =>
      queries
        .select({ job: tenantForgettings.job })
        .from(tenantForgettings)
        .where(and(eq(tenantForgettings.tenant, placeholder('tenant')), isNull(tenantForgettings.finished)))
        .prepare(),
    ),
    numberOf: database.statement((queries) =>
      queries
        .select({ instanceRow: rowid(instances) })
        .from(instances)
        .where(eq(instances.id, placeholder('id')))
        .prepare(),
    ),
    recordVolumes: database.statement((queries) =>
      queries
        .insert(instanceVolumes)
        .values(boundColumns({ instanceRow, tenant, ...volumes }))
        .onConflictDoUpdate({ target: instanceVolumes.instanceRow, set: boundColumns(volumes) })
        .prepare(),
    ),
  };
}
