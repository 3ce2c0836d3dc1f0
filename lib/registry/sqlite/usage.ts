/** Usage by the hour, in the registry's file. */
import { LedgerHours } from '../ledger-hours.ts';
import { usedInHour } from '../new-rows.ts';
import { cpuUseStatements } from '../statements/cpu-use.ts';
import { COUNTED, usageStatements } from '../statements/usage.ts';
import type { SeriesSize, TenantUse, UsageStore } from '../usage.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

/** The name of the whole server among the tenants, none of which is empty. */
const SERVER = '';
const HOURS_A_DAY = 24;
export function openUsage(
  database: RegistryDatabase,
  lastSeq: () => number,
  isNew: NoteWrite,
): SyncMethods<UsageStore> {
  const {
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
    series: ofSeries,
  } = usageStatements(database);
  const { add: addCpu } = cpuUseStatements(database);
  const series = {
    sandboxes: seriesOf(database, ofSeries.sandboxes),
    tenants: seriesOf(database, ofSeries.tenants),
  };
  /** The last line that is counted, and the last line that there is. */
  const watermark = (): { at: number | null; last: number } => ({
    at: (counted().get()?.value ?? null) as number | null,
    last: lastSeq(),
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
          addTenant().run(usedInHour(hour, use, bytesOf().get({ tenant: use.tenant })?.bytes ?? 0));
          if (use.cpuMs > 0)
            addCpu().run({ tenant: use.tenant, day: Math.floor(hour / HOURS_A_DAY), seconds: use.cpuMs / 1000 });
          all.cpuMs += use.cpuMs;
          all.calls += use.calls;
          all.memoryBytes += use.memoryBytes;
        }
        addTenant().run(usedInHour(hour, all, bytesOfAll().get()?.bytes ?? 0));
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

/**
 * The rows of a series by their numbers, which rise with the hours. Numbers without a row are rare, so the first and
 * the last number say how many rows there are, at a constant cost.
 */
function seriesOf(
  database: RegistryDatabase,
  { first, last, remove }: ReturnType<typeof usageStatements>['series']['tenants'],
) {
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
