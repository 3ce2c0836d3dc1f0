/** Usage by the hour. */
import { LedgerHours } from '../ledger-hours.ts';
import { usedInHour } from '../new-rows.ts';
import { cpuUseStatements } from '../statements/cpu-use.ts';
import { COUNTED, usageStatements } from '../statements/usage.ts';
import type { SeriesSize, TenantUse, UsageStore } from '../usage.ts';
import type { PostgresDatabase } from './database.ts';
import type { Async } from './statement.ts';
import type { NoteWrite } from './write-ids.ts';

/** The name of the whole server among the tenants, none of which is empty. */
const SERVER = '';
const HOURS_A_DAY = 24;
export function openUsage(database: PostgresDatabase, lastSeq: () => Promise<number>, isNew: NoteWrite): UsageStore {
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
  } = database.with(usageStatements);
  const { add: addCpu } = database.with(cpuUseStatements);
  const series = {
    sandboxes: seriesOf(database, ofSeries.sandboxes),
    tenants: seriesOf(database, ofSeries.tenants),
  };
  /** The last line that is counted, and the last line that there is. */
  const watermark = async (): Promise<{ at: number | null; last: number }> => ({
    at: ((await counted().get())?.value ?? null) as number | null,
    last: await lastSeq(),
  });

  return {
    async add(hour, uses, writeId) {
      if (uses.sandboxes.length === 0 && uses.tenants.length === 0) return;
      await database.write(async () => {
        if (!(await isNew(writeId))) return;
        for (const { id, ...use } of uses.sandboxes) {
          const found = await row().get({ id });
          if (found !== undefined)
            await addSandbox().run({ hour, ...use, instanceRow: found.instanceRow, bytes: found.bytes });
        }
        const all: TenantUse = { tenant: SERVER, cpuMs: 0, calls: 0, memoryBytes: 0 };
        for (const use of uses.tenants) {
          await addTenant().run(usedInHour(hour, use, (await bytesOf().get({ tenant: use.tenant }))?.bytes ?? 0));
          if (use.cpuMs > 0)
            await addCpu().run({ tenant: use.tenant, day: Math.floor(hour / HOURS_A_DAY), seconds: use.cpuMs / 1000 });
          all.cpuMs += use.cpuMs;
          all.calls += use.calls;
          all.memoryBytes += use.memoryBytes;
        }
        await addTenant().run(usedInHour(hour, all, (await bytesOfAll().get())?.bytes ?? 0));
      });
    },

    async countLedger(limit, sinceMs) {
      const { at, last } = await watermark();
      if (at === last) return 0;
      const after = at ?? ((await firstSince().get({ sinceMs }))?.seq ?? last + 1) - 1;
      const upTo = Math.min(last, after + limit);
      await database.write(async () => {
        const hours = new LedgerHours(SERVER);
        for (const line of await lines().all({ after, upTo })) hours.take(line);
        for (const hour of hours.values()) {
          const bytes =
            hour.tenant === SERVER
              ? (await bytesOfAll().get())?.bytes
              : (await bytesOf().get({ tenant: hour.tenant }))?.bytes;
          await addTenant().run({ ...hour, cpuMs: 0, calls: 0, memoryBytes: 0, bytes: bytes ?? 0 });
        }
        await setCounted().run({ key: COUNTED, value: upTo, updated: 0 });
      });
      return last - upTo;
    },

    async ofSandbox(id, from, until, step = 1) {
      const found = await row().get({ id });
      if (found === undefined) return [];
      const of = { instanceRow: found.instanceRow, from, until, step };
      const disks = await sandboxDisk().all(of);
      return (await sandboxRows().all(of)).map((hour, index) => ({ ...hour, bytes: disks[index]?.bytes ?? null }));
    },

    async ofTenant(tenant, from, until, step = 1) {
      const name = tenant ?? SERVER;
      const { at, last } = await watermark();
      const of = { tenant: name, from, until, step };
      const disks = await tenantDisk().all(of);
      return {
        hours: (await tenantRows().all(of)).map((hour, index) => ({ ...hour, bytes: disks[index]?.bytes ?? 0 })),
        active: (tenant === null ? (await activeOfAll().get())?.n : (await activeOf().get({ tenant }))?.n) ?? 0,
        laterChange: (await changeAfter().get({ tenant: name, until }))?.change ?? 0,
        uncounted: last - (at ?? 0),
      };
    },

    prune: async (before, maxRows, limit) =>
      (await series.sandboxes.prune(before, maxRows, limit)) + (await series.tenants.prune(before, maxRows, limit)),
    sizes: async () => ({ sandboxes: await series.sandboxes.size(), tenants: await series.tenants.size() }),
  };
}

/**
 * The rows of a series by their numbers, which rise with the hours. Numbers without a row are rare, so the first and
 * the last number say how many rows there are, at a constant cost.
 */
function seriesOf(
  database: PostgresDatabase,
  { first, last, remove }: Async<ReturnType<typeof usageStatements>['series']['tenants']>,
) {
  return {
    async size(): Promise<SeriesSize> {
      const oldest = await first().get();
      const newest = await last().get();
      if (oldest === undefined || newest === undefined) return { rows: 0, oldest: null };
      return { rows: newest.seq - oldest.seq + 1, oldest: oldest.hour };
    },
    async prune(before: number, maxRows: number, limit: number): Promise<number> {
      const oldest = await first().get();
      const surplus = ((await last().get())?.seq ?? 0) - maxRows;
      if (oldest === undefined || (oldest.hour >= before && oldest.seq > surplus)) return 0;
      const upTo = oldest.seq + limit - 1;
      return await database.write(async () => (await remove().run({ upTo, before, surplus })).changes);
    },
  };
}
