/** Operations on tenants: their thresholds and quotas, and forgetting one for good. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, utcDay } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type {
  ForgetTenantInput,
  ForgettingStarted,
  Tenant,
  TenantForgetPlan,
  TenantPatch,
  TenantsQuery,
} from '../contract/schema/tenants.ts';
import type { TenantForgetter } from '../jobs/tenant-forgetter.ts';
import type { TenantStore } from '../jobs/tenant-objects.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { NO_QUOTAS, type QuotaLimits, type TenantRow } from '../registry/quotas.ts';
import type { Registry } from '../registry/registry.ts';
import type { TenantForgetting } from '../registry/tenant-forgettings.ts';
import type { Thresholds } from '../registry/types.ts';
import { auditContextOf } from './audit-context.ts';
import { forgetPlan } from './forget-preview.ts';
import type { ListPage } from './list-page.ts';
import { thresholdsPatch } from './settings.ts';
import { unknownId } from './unknown-id.ts';

export interface TenantOperations {
  listTenants(caller: Caller, query: TenantsQuery): Promise<ListPage<Tenant>>;
  /** Throws `not_found`; never for the caller's own tenant, which is there before its first sandbox. */
  getTenant(caller: Caller, tenant: string): Promise<Tenant>;
  /** Sets a tenant's thresholds and quotas. It need not have a sandbox yet. */
  patchTenant(caller: Caller, tenant: string, patch: TenantPatch): Promise<Tenant>;
  /**
   * Begins to forget a tenant when its name is in `confirm`; with `dry_run` says what that would do. Throws
   * `not_found` for an unknown tenant, `conflict` while it is being forgotten, and where other hosts use the registry.
   */
  forgetTenant(
    caller: Caller,
    tenant: string,
    input: ForgetTenantInput,
  ): Promise<{ plan: TenantForgetPlan } | { started: ForgettingStarted }>;
}

const QUOTA_NAMES = ['max_sandboxes', 'max_active', 'max_bytes', 'max_daily_cpu_s', 'max_run_s', 'max_call_s'] as const;
const NO_COUNTS = { created: 0, active: 0, suspended: 0, frozen: 0, archived: 0, deleted: 0 };

export function tenantOperations(parts: {
  registry: Registry;
  clock: Clock;
  forgetter: Pick<TenantForgetter, 'begin'>;
  config: Pick<Config, 'dataFolder' | 'hostName' | 'store'>;
  store: TenantStore | null;
}): TenantOperations {
  const { registry } = parts;

  const serialize = async (row: TenantRow): Promise<Tenant> =>
    tenantOf(row, {
      applied: await registry.thresholds.ofTenant(row.tenant),
      last: await registry.tenantForgettings.last(row.tenant),
      cpuSeconds: await registry.cpuUse.of(row.tenant, utcDay(parts.clock)),
    });

  const entry = (caller: Caller, tenant: string, reason: string) => ({
    ...ledgerEntry(parts, null, auditContextOf(caller), 'tenant.changed', { reason }),
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
      return { items: await Promise.all(page.rows.map(serialize)), next: page.next };
    },

    async getTenant(caller, tenant) {
      const row = await registry.quotas.tenant(tenant);
      if (row !== null) return serialize(row);
      if (caller.tenants?.includes(tenant) !== true) throw unknownId('tenant', tenant);
      return serialize(emptyRow(tenant));
    },

    async patchTenant(caller, tenant, patch) {
      const thresholds = thresholdsPatch(patch);
      if (Object.keys(thresholds).length > 0) {
        await registry.thresholds.setOfTenant(
          tenant,
          thresholds,
          entry(caller, tenant, changesInWords(patch, ['hot_to_warm_s', 'idle_to_suspend_s', 'idle_to_freeze_s'])),
        );
      }
      const limits = quotasPatch(patch);
      if (Object.keys(limits).length > 0) {
        await registry.quotas.set(tenant, limits, entry(caller, tenant, changesInWords(patch, QUOTA_NAMES)));
      }
      if (patch.replicate !== undefined) {
        const line = entry(caller, tenant, changesInWords(patch, ['replicate']));
        await registry.quotas.setReplicate(tenant, patch.replicate, line);
      }
      return serialize((await registry.quotas.tenant(tenant)) ?? emptyRow(tenant));
    },

    async forgetTenant(caller, tenant, { confirm, dry_run: dryRun = false }) {
      const plan = await forgetPlan(parts, tenant);
      if (plan === null) throw unknownId('tenant', tenant);
      if (dryRun) return { plan };
      if (confirm !== tenant) {
        const message = `must be the tenant’s name, ${tenant}: what is forgotten does not come back`;
        throw new WinterdockError('validation', `confirm: ${message}`, {
          hint: 'Send it with dry_run first: it says what would be deleted.',
          extra: { errors: [{ path: 'confirm', message }] },
        });
      }
      const others = (await registry.hosts.list()).filter(({ name }) => name !== parts.config.hostName);
      if (others.length > 0) throw onDisksOfOthers(tenant, others);
      const id = await parts.forgetter.begin(tenant, auditContextOf(caller));
      const { backups, set_aside, store, registry_moments_end } = plan;
      return { started: { id, backups, set_aside, store, registry_moments_end } };
    },
  };
}

/** Only what is on this disk can be removed by this server. */
function onDisksOfOthers(tenant: string, others: readonly { name: string }[]): WinterdockError {
  const names = others.map(({ name }) => name);
  return new WinterdockError(
    'conflict',
    `Files of the tenant "${tenant}" may be on the disks of other hosts: ${names.join(', ')}. Nothing of it was forgotten.`,
    {
      hint: 'Delete its sandboxes and snapshots; what is kept of them goes when one server has the registry for itself.',
      extra: { hosts: names },
    },
  );
}

/** The row of a tenant that has nothing yet. */
function emptyRow(tenant: string): TenantRow {
  return {
    tenant,
    counts: NO_COUNTS,
    bytes: NO_COUNTS,
    volumes: { instances: 0, workspace: 0, memory: 0, tmp: 0 },
    thresholds: { hotToWarmSeconds: null, idleToSuspendSeconds: null, idleToFreezeSeconds: null },
    quotas: NO_QUOTAS,
    replicate: null,
  };
}

function tenantOf(
  { tenant, counts, bytes, volumes, thresholds, quotas, replicate }: TenantRow,
  {
    applied,
    last,
    cpuSeconds,
  }: {
    applied: Thresholds;
    last: TenantForgetting | null;
    /** Since midnight UTC. */
    cpuSeconds: number;
  },
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
    hot_to_warm_s: thresholds.hotToWarmSeconds,
    idle_to_suspend_s: thresholds.idleToSuspendSeconds,
    idle_to_freeze_s: thresholds.idleToFreezeSeconds,
    max_run_s: quotas.maxRunSeconds,
    max_call_s: quotas.maxCallSeconds,
    replicate,
    thresholds: {
      hot_to_warm_s: applied.hotToWarmSeconds,
      idle_to_suspend_s: applied.idleToSuspendSeconds,
      idle_to_freeze_s: applied.idleToFreezeSeconds,
    },
    quotas: {
      max_sandboxes: { limit: quotas.maxSandboxes, used: sandboxes },
      max_active: { limit: quotas.maxActive, used: counts.active },
      max_bytes: { limit: quotas.maxBytes, used: total },
      max_daily_cpu_s: { limit: quotas.maxDailyCpuSeconds, used: Math.floor(cpuSeconds) },
    },
    forgetting: last === null ? null : { job: last.job, started: last.started, finished: last.finished },
  };
}

/** The quotas that a patch changes. */
function quotasPatch(patch: TenantPatch): Partial<QuotaLimits> {
  const { max_sandboxes, max_active, max_bytes, max_daily_cpu_s, max_run_s, max_call_s } = patch;
  return {
    ...(max_sandboxes === undefined ? {} : { maxSandboxes: max_sandboxes }),
    ...(max_active === undefined ? {} : { maxActive: max_active }),
    ...(max_bytes === undefined ? {} : { maxBytes: max_bytes }),
    ...(max_daily_cpu_s === undefined ? {} : { maxDailyCpuSeconds: max_daily_cpu_s }),
    ...(max_run_s === undefined ? {} : { maxRunSeconds: max_run_s }),
    ...(max_call_s === undefined ? {} : { maxCallSeconds: max_call_s }),
  };
}

/** The changed members with their new values, as the reason of the ledger's line. */
function changesInWords(patch: TenantPatch, names: readonly (keyof TenantPatch)[]): string {
  return names.flatMap((name) => (patch[name] === undefined ? [] : [`${name}=${patch[name] ?? 'none'}`])).join(' ');
}
