/** Usage by the hour, in the registry's file. */
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
import type { SeriesSize, TenantUse, UsageStore } from '../usage.ts';
import { boundColumns } from './bound-values.ts';
import type { cpuDays } from './cpu-use.ts';
import type { RegistryDatabase } from './database.ts';
import { LedgerHours } from './ledger-hours.ts';
import {
  greatestBound,
  maxOrZero,
  plusBound,
  rowid,
  selectUnindexed,
  stepOf,
  sumOrZero,
  sumToEndOfStep,
} from './raw.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

/** The name of the whole server among the tenants, none of which is empty. */
const SERVER = '';
const HOURS_A_DAY = 24;
/** The key of the number of the last line that is counted. */
const COUNTED = 'usage:counted';
const HOUR_MS = 3_600_000;
/** What of a line of the ledger makes a difference to the sums. */
const COUNTED_TYPES = ['transition', 'fault.raised'];

export function openUsage(
  database: RegistryDatabase,
  addCpu: ReturnType<typeof cpuDays>,
  lastSeq: () => number,
  isNew: NoteWrite,
): SyncMethods<UsageStore> {
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
      .groupBy(stepOf(sandboxHours.hour))
      .orderBy(stepOf(sandboxHours.hour))
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
      .groupBy(stepOf(tenantHours.hour))
      .orderBy(stepOf(tenantHours.hour))
      .prepare(),
  );
  // The disk is that of the last hour of a step: SQLite takes a column from the row of the only maximum.
  const sandboxDisk = database.statement((queries) =>
    queries
      .select({ hour: max(sandboxHours.hour), bytes: sandboxHours.bytes })
      .from(sandboxHours)
      .where(
        and(
          eq(sandboxHours.instanceRow, placeholder('instanceRow')),
          gte(sandboxHours.hour, placeholder('from')),
          lte(sandboxHours.hour, placeholder('until')),
        ),
      )
      .groupBy(stepOf(sandboxHours.hour))
      .orderBy(stepOf(sandboxHours.hour))
      .prepare(),
  );
  const tenantDisk = database.statement((queries) =>
    queries
      .select({ hour: max(tenantHours.hour), bytes: tenantHours.bytes })
      .from(tenantHours)
      .where(
        and(
          eq(tenantHours.tenant, placeholder('tenant')),
          gte(tenantHours.hour, placeholder('from')),
          lte(tenantHours.hour, placeholder('until')),
        ),
      )
      .groupBy(stepOf(tenantHours.hour))
      .orderBy(stepOf(tenantHours.hour))
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

  const series = { sandboxes: seriesOf(database, sandboxHours), tenants: seriesOf(database, tenantHours) };

  /** The last line that is counted, and the last line that there is. */
  const watermark = (): { at: number | null; last: number } => ({
    at: (counted().get()?.value ?? null) as number | null,
    last: lastSeq(),
  });

  const addUse = (hour: number, { tenant, cpuMs, calls, memoryBytes }: TenantUse, bytes: number) =>
    addTenant().run({
      tenant,
      hour,
      cpuMs,
      calls,
      memoryBytes,
      bytes,
      wakes: 0,
      faults: 0,
      activeChange: 0,
      activeMs: 0,
    });

  return {
    add(hour, uses, writeId) {
      if (uses.sandboxes.length === 0 && uses.tenants.length === 0) return;
      database.write(() => {
        if (!isNew(writeId)) return;
        for (const { id, ...use } of uses.sandboxes) {
          const found = row().get({ id });
          if (found !== undefined)
            addSandbox().run({ hour, ...use, instanceRow: found.instanceRow, bytes: found.bytes });
        }
        const all: TenantUse = { tenant: SERVER, cpuMs: 0, calls: 0, memoryBytes: 0 };
        for (const use of uses.tenants) {
          addUse(hour, use, bytesOf().get({ tenant: use.tenant })?.bytes ?? 0);
          if (use.cpuMs > 0)
            addCpu().run({ tenant: use.tenant, day: Math.floor(hour / HOURS_A_DAY), seconds: use.cpuMs / 1000 });
          all.cpuMs += use.cpuMs;
          all.calls += use.calls;
          all.memoryBytes += use.memoryBytes;
        }
        addUse(hour, all, bytesOfAll().get()?.bytes ?? 0);
      });
    },

    countLedger(limit, sinceMs) {
      const { at, last } = watermark();
      if (at === last) return 0;
      const after = at ?? (firstSince().get({ sinceMs })?.seq ?? last + 1) - 1;
      const upTo = Math.min(last, after + limit);
      database.write(() => {
        const hours = new LedgerHours(SERVER);
        for (const line of lines().all({ after, upTo })) hours.take(line);
        for (const hour of hours.values()) {
          const bytes =
            hour.tenant === SERVER ? bytesOfAll().get()?.bytes : bytesOf().get({ tenant: hour.tenant })?.bytes;
          addTenant().run({ ...hour, cpuMs: 0, calls: 0, memoryBytes: 0, bytes: bytes ?? 0 });
        }
        setCounted().run({ key: COUNTED, value: upTo, updated: 0 });
      });
      return last - upTo;
    },

    ofSandbox(id, from, until, step = 1) {
      const found = row().get({ id });
      if (found === undefined) return [];
      const of = { instanceRow: found.instanceRow, from, until, step };
      const disks = sandboxDisk().all(of);
      return sandboxRows()
        .all(of)
        .map((hour, index) => ({ ...hour, bytes: disks[index]?.bytes ?? null }));
    },

    ofTenant(tenant, from, until, step = 1) {
      const name = tenant ?? SERVER;
      const { at, last } = watermark();
      const of = { tenant: name, from, until, step };
      const disks = tenantDisk().all(of);
      return {
        hours: tenantRows()
          .all(of)
          .map((hour, index) => ({ ...hour, bytes: disks[index]?.bytes ?? 0 })),
        active: (tenant === null ? activeOfAll().get()?.n : activeOf().get({ tenant })?.n) ?? 0,
        laterChange: changeAfter().get({ tenant: name, until })?.change ?? 0,
        uncounted: last - (at ?? 0),
      };
    },

    prune: (before, maxRows, limit) =>
      series.sandboxes.prune(before, maxRows, limit) + series.tenants.prune(before, maxRows, limit),
    sizes: () => ({ sandboxes: series.sandboxes.size(), tenants: series.tenants.size() }),
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

/**
 * The rows of a series by their numbers, which rise with the hours. Numbers without a row are rare, so the first and
 * the last number say how many rows there are, at a constant cost.
 */
function seriesOf(database: RegistryDatabase, table: typeof sandboxHours | typeof tenantHours) {
  const { seq, hour } = table;
  const end = (order: typeof asc) =>
    database.statement((queries) => queries.select({ seq, hour }).from(table).orderBy(order(seq)).limit(1).prepare());
  const [first, last] = [end(asc), end(desc)];
  const remove = database.statement((queries) =>
    queries
      .delete(table)
      .where(and(lte(seq, placeholder('upTo')), or(lt(hour, placeholder('before')), lte(seq, placeholder('surplus')))))
      .prepare(),
  );
  return {
    size(): SeriesSize {
      const oldest = first().get();
      const newest = last().get();
      if (oldest === undefined || newest === undefined) return { rows: 0, oldest: null };
      return { rows: newest.seq - oldest.seq + 1, oldest: oldest.hour };
    },
    prune(before: number, maxRows: number, limit: number): number {
      const oldest = first().get();
      const surplus = (last().get()?.seq ?? 0) - maxRows;
      if (oldest === undefined || (oldest.hour >= before && oldest.seq > surplus)) return 0;
      const upTo = oldest.seq + limit - 1;
      return database.write(() => remove().run({ upTo, before, surplus }).changes);
    },
  };
}
