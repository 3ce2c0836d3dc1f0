/** Statements over usage by the hour. */
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  lte,
  max,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import {
  countsByState,
  countsByTenant,
  events,
  instances,
  sandboxHours,
  settings,
  tenantHours,
} from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import {
  byStep,
  greatestBound,
  inLastHour,
  maxOrZero,
  plusBound,
  rowid,
  selectUnindexed,
  stepOf,
  sumOrZero,
  sumToEndOfStep,
} from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** The key of the number of the last line that is counted. */
export const COUNTED = 'usage:counted';
const HOUR_MS = 3_600_000;
/** What of a line of the ledger makes a difference to the sums. */
const COUNTED_TYPES = ['transition', 'fault.raised'];

export function usageStatements(database: StatementMaker) {
  const { seq: _sandboxSeq, ...ofSandbox } = getTableColumns(sandboxHours);
  const { seq: _tenantSeq, ...ofTenant } = getTableColumns(tenantHours);
  const addSandbox = database.statement((queries) =>
    queries
      .insert(sandboxHours)
      .values(boundColumns(ofSandbox))
      .onConflictDoUpdate({
        target: [sandboxHours.instanceRow, sandboxHours.hour],
        set: {
          cpuMs: plusBound(sandboxHours.cpuMs, 'cpuMs'),
          calls: plusBound(sandboxHours.calls, 'calls'),
          memoryBytes: greatestBound(sandboxHours.memoryBytes, 'memoryBytes'),
          bytes: boundColumns(ofSandbox).bytes,
        },
      })
      .prepare(),
  );
  const added = boundColumns(ofTenant);
  const addTenant = database.statement((queries) =>
    queries
      .insert(tenantHours)
      .values(added)
      .onConflictDoUpdate({
        target: [tenantHours.tenant, tenantHours.hour],
        set: {
          cpuMs: plusBound(tenantHours.cpuMs, 'cpuMs'),
          calls: plusBound(tenantHours.calls, 'calls'),
          memoryBytes: greatestBound(tenantHours.memoryBytes, 'memoryBytes'),
          bytes: added.bytes,
          wakes: plusBound(tenantHours.wakes, 'wakes'),
          faults: plusBound(tenantHours.faults, 'faults'),
          activeChange: plusBound(tenantHours.activeChange, 'activeChange'),
          activeMs: plusBound(tenantHours.activeMs, 'activeMs'),
        },
      })
      .prepare(),
  );
  const row = database.statement((queries) =>
    queries
      .select({ instanceRow: rowid(instances), bytes: instances.bytes, tenant: instances.tenant })
      .from(instances)
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  const bytesOf = database.statement((queries) =>
    queries
      .select({ bytes: sumOrZero(countsByTenant.bytes) })
      .from(countsByTenant)
      .where(eq(countsByTenant.tenant, placeholder('tenant')))
      .prepare(),
  );
  const bytesOfAll = database.statement((queries) =>
    queries
      .select({ bytes: sumOrZero(countsByTenant.bytes) })
      .from(countsByTenant)
      .prepare(),
  );
  const activeOf = database.statement((queries) =>
    queries
      .select({ n: countsByTenant.n })
      .from(countsByTenant)
      .where(and(eq(countsByTenant.tenant, placeholder('tenant')), eq(countsByTenant.state, 'active')))
      .prepare(),
  );
  const activeOfAll = database.statement((queries) =>
    queries.select({ n: countsByState.n }).from(countsByState).where(eq(countsByState.state, 'active')).prepare(),
  );
  const sandboxRows = database.statement((queries) =>
    queries
      .select(usedOf(sandboxHours))
      .from(sandboxHours)
      .where(
        and(
          eq(sandboxHours.instanceRow, placeholder('instanceRow')),
          gte(sandboxHours.hour, placeholder('from')),
          lte(sandboxHours.hour, placeholder('until')),
        ),
      )
      .groupBy(byStep(sandboxHours.hour))
      .orderBy(byStep(sandboxHours.hour))
      .prepare(),
  );
  const tenantSums = {
    ...usedOf(tenantHours),
    wakes: sumOrZero(tenantHours.wakes),
    faults: sumOrZero(tenantHours.faults),
    activeChange: sumOrZero(tenantHours.activeChange),
    activeMs: sumToEndOfStep(tenantHours.activeMs, tenantHours.activeChange, tenantHours.hour, HOUR_MS),
  };
  const tenantRows = database.statement((queries) =>
    queries
      .select(tenantSums)
      .from(tenantHours)
      .where(
        and(
          eq(tenantHours.tenant, placeholder('tenant')),
          gte(tenantHours.hour, placeholder('from')),
          lte(tenantHours.hour, placeholder('until')),
        ),
      )
      .groupBy(byStep(tenantHours.hour))
      .orderBy(byStep(tenantHours.hour))
      .prepare(),
  );
  // The disk is that of the last hour of a step.
  const sandboxDisk = database.statement((queries) =>
    queries
      .select({
        step: stepOf(sandboxHours.hour),
        hour: max(sandboxHours.hour),
        bytes: inLastHour<number | null>(sandboxHours.bytes, sandboxHours.hour),
      })
      .from(sandboxHours)
      .where(
        and(
          eq(sandboxHours.instanceRow, placeholder('instanceRow')),
          gte(sandboxHours.hour, placeholder('from')),
          lte(sandboxHours.hour, placeholder('until')),
        ),
      )
      .groupBy(byStep(sandboxHours.hour))
      .orderBy(byStep(sandboxHours.hour))
      .prepare(),
  );
  const tenantDisk = database.statement((queries) =>
    queries
      .select({
        step: stepOf(tenantHours.hour),
        hour: max(tenantHours.hour),
        bytes: inLastHour<number>(tenantHours.bytes, tenantHours.hour),
      })
      .from(tenantHours)
      .where(
        and(
          eq(tenantHours.tenant, placeholder('tenant')),
          gte(tenantHours.hour, placeholder('from')),
          lte(tenantHours.hour, placeholder('until')),
        ),
      )
      .groupBy(byStep(tenantHours.hour))
      .orderBy(byStep(tenantHours.hour))
      .prepare(),
  );
  const changeAfter = database.statement((queries) =>
    queries
      .select({ change: sumOrZero(tenantHours.activeChange) })
      .from(tenantHours)
      .where(and(eq(tenantHours.tenant, placeholder('tenant')), gt(tenantHours.hour, placeholder('until'))))
      .prepare(),
  );

  const counted = database.statement((queries) =>
    queries.select({ value: settings.value }).from(settings).where(eq(settings.key, COUNTED).inlineParams()).prepare(),
  );
  const setCounted = database.statement((queries) => {
    const values = boundColumns(getTableColumns(settings));
    return queries
      .insert(settings)
      .values(values)
      .onConflictDoUpdate({ target: settings.key, set: { value: values.value, updated: values.updated } })
      .prepare();
  });
  const firstSince = database.statement((queries) =>
    queries
      .select({ seq: events.seq })
      .from(events)
      .where(gte(events.timeMs, placeholder('sinceMs')))
      .orderBy(asc(events.timeMs), asc(events.seq))
      .limit(1)
      .prepare(),
  );
  const lines = database.statement((queries) => {
    const { timeMs, tenant, type, from, to, source } = events;
    return selectUnindexed(queries, { timeMs, tenant, type, from, to, source }, events)
      .where(
        and(
          gt(events.seq, placeholder('after')),
          lte(events.seq, placeholder('upTo')),
          inArray(events.type, COUNTED_TYPES).inlineParams(),
        ),
      )
      .prepare();
  });

  return {
    addSandbox,
    addTenant,
    row,
    bytesOf,
    bytesOfAll,
    activeOf,
    activeOfAll,
    sandboxRows,
    tenantRows,
    sandboxDisk,
    tenantDisk,
    changeAfter,
    counted,
    setCounted,
    firstSince,
    lines,
    series: {
      sandboxes: seriesStatements(database, sandboxHours),
      tenants: seriesStatements(database, tenantHours),
    },
  };
}

/** What a step used: the greatest of the memory of its hours, and the sums of the rest. */
function usedOf({ hour, cpuMs, calls, memoryBytes }: typeof sandboxHours | typeof tenantHours) {
  return {
    hour: stepOf(hour),
    cpuMs: sumOrZero(cpuMs),
    calls: sumOrZero(calls),
    memoryBytes: maxOrZero(memoryBytes),
  };
}

/** The rows of a series by their numbers, which rise with the hours. */
function seriesStatements(database: StatementMaker, table: typeof sandboxHours | typeof tenantHours) {
  const { seq, hour } = table;
  const end = (order: typeof asc) =>
    database.statement((queries) => queries.select({ seq, hour }).from(table).orderBy(order(seq)).limit(1).prepare());
  return {
    first: end(asc),
    last: end(desc),
    remove: database.statement((queries) =>
      queries
        .delete(table)
        .where(
          and(lte(seq, placeholder('upTo')), or(lt(hour, placeholder('before')), lte(seq, placeholder('surplus')))),
        )
        .prepare(),
    ),
  };
}
