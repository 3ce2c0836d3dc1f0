/** The operations of tenants, wake times and the simulator over the registry. Holds no state. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Tenant, TenantPatch } from '../contract/schema/tenants.ts';
import type { Metrics } from '../health/metrics.ts';
import type { Forgetter } from '../jobs/forgetter.ts';
import { simulate, type Tally } from '../ledger/simulator.ts';
import type { TenantRow } from '../registry/quotas.ts';
import type { Registry } from '../registry/registry.ts';
import type { TenantForgetting } from '../registry/tenant-forgettings.ts';
import type { Thresholds } from '../registry/types.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { causeOf } from './audit-context.ts';
import { forgetPlan } from './forget-plan.ts';
import { unknownId } from './guard.ts';
import type { TenantsOperations } from './interfaces/tenants.ts';

const DAY_MS = 86_400_000;
const PREVIEW_SECONDS = 60;
const NO_COUNTS = { created: 0, active: 0, suspended: 0, frozen: 0, archived: 0, deleted: 0 };

/** Makes them. */
export function tenantsOperations(parts: {
  registry: Registry;
  clock: Clock;
  metrics: Pick<Metrics, 'wakeTimes'>;
  forgetter: Pick<Forgetter, 'begin'>;
  config: Pick<Config, 'dataFolder' | 'registryPath'>;
}): TenantsOperations {
  const { registry, clock, metrics } = parts;

  const show = async (row: TenantRow): Promise<Tenant> =>
    tenantOf(row, await registry.thresholds.ofTenant(row.tenant), await registry.forgettings.last(row.tenant));

  const entry = (caller: Caller, tenant: string, reason: string) => ({
    ...ledgerEntry({ clock }, null, causeOf(caller), 'tenant.changed', { reason }),
    tenant,
  });

  return {
    async listTenants(caller, { q, own_thresholds: own, limit, cursor }) {
      const filter = {
        ...(caller.tenants === null ? {} : { among: caller.tenants }),
        ...(q === undefined ? {} : { text: q }),
        ownThresholds: own === 'true',
      };
      const page = await registry.quotas.tenants(filter, limit, cursor);
      return { items: await Promise.all(page.rows.map(show)), next: page.next };
    },

    async getTenant(caller, tenant) {
      const row = await registry.quotas.tenant(tenant);
      if (row !== null) return show(row);
      if (caller.tenants?.includes(tenant) !== true) throw unknownId('tenant', tenant);
      return show(emptyRow(tenant));
    },

    async patchTenant(caller, tenant, patch) {
      const { idle_to_suspend_s: toSuspend, idle_to_freeze_s: toFreeze } = patch;
      const { max_sandboxes: maxSandboxes, max_active: maxActive, max_bytes: maxBytes } = patch;
      if (toSuspend !== undefined || toFreeze !== undefined) {
        await registry.thresholds.setOfTenant(
          tenant,
          {
            ...(toSuspend === undefined ? {} : { idleToSuspendSeconds: toSuspend }),
            ...(toFreeze === undefined ? {} : { idleToFreezeSeconds: toFreeze }),
          },
          entry(caller, tenant, said(patch, ['idle_to_suspend_s', 'idle_to_freeze_s'])),
        );
      }
      if (maxSandboxes !== undefined || maxActive !== undefined || maxBytes !== undefined) {
        await registry.quotas.set(
          tenant,
          {
            ...(maxSandboxes === undefined ? {} : { maxSandboxes }),
            ...(maxActive === undefined ? {} : { maxActive }),
            ...(maxBytes === undefined ? {} : { maxBytes }),
          },
          entry(caller, tenant, said(patch, ['max_sandboxes', 'max_active', 'max_bytes'])),
        );
      }
      return show((await registry.quotas.tenant(tenant)) ?? emptyRow(tenant));
    },

    async forgetTenant(caller, tenant, { confirm, dry_run: dryRun = false }) {
      const plan = await forgetPlan(parts, tenant);
      if (plan === null) throw unknownId('tenant', tenant);
      if (dryRun) return { plan };
      if (confirm !== tenant) {
        const message = `must be the tenant’s name, ${tenant}: what is forgotten does not come back`;
        throw new WinterdockError('validation', `confirm: ${message}`, {
          hint: 'Ask with dry_run first: it says what would go.',
          extra: { errors: [{ path: 'confirm', message }] },
        });
      }
      const id = await parts.forgetter.begin(tenant, causeOf(caller));
      return { started: { id, backups: plan.backups, set_aside: plan.set_aside } };
    },

    async wakeTimes(_caller, { days }) {
      const found = await metrics.wakeTimes(days);
      return found.map(({ path, source, count, meanMs, p50Ms, p99Ms, buckets }) => ({
        path,
        source,
        count,
        mean_ms: rounded(meanMs),
        p50_ms: rounded(p50Ms),
        p99_ms: rounded(p99Ms),
        buckets: buckets.map(({ leMs, count: n }) => ({ le_ms: leMs, count: n })),
      }));
    },

    async previewThresholds(caller, { tenant, idle_to_suspend_s: toSuspend, idle_to_freeze_s: toFreeze }) {
      const { more, fewer, cut } = await registry.thresholds.compare({
        tenant: tenant ?? null,
        patch: {
          ...(toSuspend === undefined ? {} : { idleToSuspendSeconds: toSuspend }),
          ...(toFreeze === undefined ? {} : { idleToFreezeSeconds: toFreeze }),
        },
        until: epochSeconds(clock) + PREVIEW_SECONDS,
        ...(caller.tenants === null ? {} : { tenants: caller.tenants }),
      });
      return { within_s: PREVIEW_SECONDS, more, fewer, cut };
    },

    async simulate(caller, { tenant, days, curve, idle_to_suspend_s: toSuspend, idle_to_freeze_s: toFreeze }) {
      const old =
        tenant === undefined ? await registry.thresholds.global() : await registry.thresholds.ofTenant(tenant);
      const trial = {
        idleToSuspendSeconds: toSuspend ?? old.idleToSuspendSeconds,
        idleToFreezeSeconds: toFreeze ?? old.idleToFreezeSeconds,
      };
      const tenants = tenant === undefined ? caller.tenants : [tenant];
      const nowMs = clock.now();
      const done = await simulate(registry, {
        sinceMs: nowMs - days * DAY_MS,
        nowMs,
        old,
        trial,
        curve: (curve ?? []).map((idleToSuspendSeconds) => ({ ...trial, idleToSuspendSeconds })),
        ...(tenants === null ? {} : { tenants }),
      });
      return {
        since: epochSeconds({ now: () => done.sinceMs }),
        until: epochSeconds(clock),
        lines: done.lines,
        first: done.firstMs === null ? null : Math.floor(done.firstMs / 1000),
        idle_ends: done.idleEnds,
        cut: done.cut,
        idle_to_suspend_s: trial.idleToSuspendSeconds,
        idle_to_freeze_s: trial.idleToFreezeSeconds,
        was: shownTally(done.was),
        would: shownTally(done.would),
        estimated_wakes: done.estimatedWakes,
        curve: done.curve.map(({ would, estimatedWakes }, at) => ({
          idle_to_suspend_s: curve?.[at] ?? trial.idleToSuspendSeconds,
          would: shownTally(would),
          estimated_wakes: estimatedWakes,
        })),
      };
    },
  };
}

/** A tenant of which nothing is known yet. */
function emptyRow(tenant: string): TenantRow {
  return {
    tenant,
    counts: NO_COUNTS,
    bytes: NO_COUNTS,
    volumes: { instances: 0, workspace: 0, memory: 0, tmp: 0 },
    thresholds: { idleToSuspendSeconds: null, idleToFreezeSeconds: null },
    quotas: { maxSandboxes: null, maxActive: null, maxBytes: null },
  };
}

function tenantOf(
  { tenant, counts, bytes, volumes, thresholds, quotas }: TenantRow,
  applied: Thresholds,
  last: TenantForgetting | null,
): Tenant {
  const sandboxes = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
  const total = Object.values(bytes).reduce((sum, n) => sum + n, 0);
  return {
    tenant,
    counts,
    bytes: {
      total,
      live: bytes.active + bytes.suspended,
      cold: bytes.frozen,
      archive: bytes.archived,
      none: bytes.created,
    },
    volumes: { sandboxes: volumes.instances, workspace: volumes.workspace, memory: volumes.memory, tmp: volumes.tmp },
    idle_to_suspend_s: thresholds.idleToSuspendSeconds,
    idle_to_freeze_s: thresholds.idleToFreezeSeconds,
    thresholds: {
      idle_to_suspend_s: applied.idleToSuspendSeconds,
      idle_to_freeze_s: applied.idleToFreezeSeconds,
    },
    quotas: {
      max_sandboxes: { limit: quotas.maxSandboxes, used: sandboxes },
      max_active: { limit: quotas.maxActive, used: counts.active },
      max_bytes: { limit: quotas.maxBytes, used: total },
    },
    forgetting: last === null ? null : { job: last.job, started: last.started, finished: last.finished },
  };
}

/** What was changed to what, in words for the ledger. */
function said(patch: TenantPatch, names: readonly (keyof TenantPatch)[]): string {
  return names.flatMap((name) => (patch[name] === undefined ? [] : [`${name}=${patch[name] ?? 'none'}`])).join(' ');
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function shownTally({ processHours, coldWakes, thaws }: Tally) {
  return { process_hours: rounded(processHours), cold_wakes: coldWakes, thaws };
}
