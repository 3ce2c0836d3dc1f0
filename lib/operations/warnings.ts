/**
 * Operations on what comes near a wall: quotas that are nearly used, schedules that fail again and again, room on the
 * disk. Every page of the console asks, so what costs more than a look at a counter is asked of the registry twice a
 * minute at most.
 */
import { statfs } from 'node:fs/promises';
import type { Caller } from '../auth/caller.ts';
import { type Clock, utcDay } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { DiskRoom, FailingSchedule, NearQuota } from '../contract/schema/attention.ts';
import type { Registry } from '../registry/registry.ts';
import type { ScheduleRow } from '../registry/schedules.ts';

export interface WarningOperations {
  nearQuotas(caller: Caller, query: { tenant?: string }): Promise<NearQuota[]>;
  failingSchedules(caller: Caller, query: { tenant?: string }): Promise<FailingSchedule[]>;
  diskRoom(caller: Caller): Promise<DiskRoom>;
}

const KEPT_MS = 30_000;
/** Of a quota. */
const NEAR = 0.8;
/** Runs that failed one after another. */
const FAILED = 2;
const SCHEDULES = 500;
/** Runs of a schedule that are looked at for the first of them. */
const RUNS = 100;

/** Reads again when what was read is older than `KEPT_MS`. What failed is not kept. */
function kept<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; value: Promise<T> } | null = null;
  return () => {
    const now = clock.now();
    if (last === null || now - last.at > KEPT_MS || now < last.at) {
      const begun = { at: now, value: read() };
      begun.value.catch(() => {
        if (last === begun) last = null;
      });
      last = begun;
    }
    return last.value;
  };
}

export function warningOperations(parts: {
  registry: Pick<Registry, 'cpuUse' | 'quotas' | 'schedules'>;
  clock: Clock;
  config: Pick<Config, 'dataFolder'>;
}): WarningOperations {
  const { registry, clock, config } = parts;

  const quotasOf = async (tenant: string): Promise<NearQuota[]> => {
    const row = await registry.quotas.tenant(tenant);
    if (row === null) return [];
    const { quotas, counts, bytes } = row;
    const sum = (values: Record<string, number>) => Object.values(values).reduce((all, one) => all + one, 0);
    const cpu = quotas.maxDailyCpuSeconds === null ? 0 : await registry.cpuUse.of(tenant, utcDay(clock));
    const all = [
      ['max_sandboxes', sum(counts) - counts.deleted, quotas.maxSandboxes],
      ['max_active', counts.active, quotas.maxActive],
      ['max_bytes', sum(bytes), quotas.maxBytes],
      ['max_daily_cpu_s', Math.floor(cpu), quotas.maxDailyCpuSeconds],
    ] as const;
    return all.flatMap(([quota, used, limit]) =>
      // What may have none of something is at no wall that anybody runs into.
      limit === null || limit === 0 || used < limit * NEAR ? [] : [{ tenant, quota, used, limit }],
    );
  };
  const nearQuotas = kept(clock, async () => {
    const near: NearQuota[] = [];
    for (const tenant of await registry.quotas.limited()) near.push(...(await quotasOf(tenant)));
    return near;
  });

  const failingOf = async ({ id, instance, tenant, action, failures }: ScheduleRow): Promise<FailingSchedule> => {
    const { rows } = await registry.schedules.runs(id, Math.min(RUNS, failures + 1));
    const ended = rows.filter(({ result }) => result === 'failed' || result === 'lost').slice(0, failures);
    const since = Math.floor((ended.at(-1)?.startedMs ?? clock.now()) / 1000);
    return { id, instance, tenant, action, failures, since, why: ended[0]?.error ?? null };
  };
  const failingSchedules = kept(clock, async () =>
    Promise.all((await registry.schedules.failing(FAILED, SCHEDULES)).map(failingOf)),
  );

  const seenBy =
    ({ tenants }: Caller, { tenant: only }: { tenant?: string } = {}) =>
    ({ tenant }: { tenant: string | null }) =>
      (tenants === null || (tenant !== null && tenants.includes(tenant))) && (only === undefined || tenant === only);

  return {
    nearQuotas: async (caller, query) => (await nearQuotas()).filter(seenBy(caller, query)),
    failingSchedules: async (caller, query) => (await failingSchedules()).filter(seenBy(caller, query)),
    async diskRoom() {
      const { blocks, bavail, bsize } = await statfs(config.dataFolder);
      return { bytes: blocks * bsize, free_bytes: bavail * bsize };
    },
  };
}
