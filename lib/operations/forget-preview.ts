/** Counts what forgetting a tenant would remove, and what would still hold its data afterwards. Changes nothing. */
import { join } from 'node:path';
import { readBackupSettings } from '../backup/backup-settings.ts';
import { goneBy } from '../backup/gone-by.ts';
import { readLastBackup } from '../backup/last-backup.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { TenantForgetPlan } from '../contract/schema/tenants.ts';
import { orphansOf } from '../jobs/tenant-files.ts';
import { countObjectsOf, type TenantStore } from '../jobs/tenant-objects.ts';
import { STATES } from '../lifecycle/state-map.ts';
import type { Registry } from '../registry/registry.ts';
import { namesIn } from '../storage/inventory.ts';

interface Parts {
  registry: Registry;
  clock: Clock;
  config: Pick<Config, 'dataFolder' | 'store'>;
  store: TenantStore | null;
}

/** Kept sandboxes that are named, and backups. */
const NAMED = 20;
const BACKUPS = 100;

/** Counts it, or null for a tenant that nothing is known of. */
export async function forgetPlan(
  { registry, clock, config, store }: Parts,
  tenant: string,
): Promise<TenantForgetPlan | null> {
  const { tenantForgettings } = registry;
  const row = await registry.quotas.tenant(tenant);
  const has = await tenantForgettings.holdings(tenant, epochSeconds(clock), NAMED);
  const { kept, keptCount, first, ...counts } = has;
  const others =
    counts.keys +
    counts.people +
    counts.limited +
    counts.invitations +
    counts.lines +
    counts.snapshots +
    counts.workbooks;
  if (row === null && others + counts.blueprints.length === 0) return null;
  const orphans = await orphansOf(config, registry, tenant);
  return {
    tenant,
    sandboxes: Object.fromEntries(
      STATES.map((state) => [state, state === 'deleted' ? 0 : (row?.counts[state] ?? 0)]),
    ) as TenantForgetPlan['sandboxes'],
    kept,
    kept_count: keptCount,
    ...counts,
    orphans: orphans.own.length,
    doubtful: orphans.doubtful,
    registry_copies: await registry.storage.keptCopies(),
    registry_bytes: (await registry.storage.status()).bytes,
    backups: await backupsSince(registry, first, epochSeconds(clock)),
    set_aside: [...namesIn(config.dataFolder)]
      .filter((name) => name.startsWith('replaced-'))
      .map((name) => join(config.dataFolder, name))
      .sort(),
    store: await countObjectsOf(registry, store, tenant),
    registry_moments_end: config.store.replica !== null,
  };
}

/** Backups on record from a moment on (epoch seconds; null: it never had anything). */
async function backupsSince(
  registry: Registry,
  since: number | null,
  now: number,
): Promise<TenantForgetPlan['backups']> {
  if (since === null) return [];
  const byId = await goneByOf(registry, now);
  const { rows } = await registry.ledger.page({ type: 'backup.made', since }, BACKUPS);
  const backups = rows.map(({ timeMs, reason }) => ({
    id: reason?.split(':')[0] ?? null,
    time: Math.floor(timeMs / 1000),
    to: null as string | null,
    gone_by: byId.get(reason?.split(':')[0] ?? '') ?? null,
  }));
  const last = await readLastBackup(registry.facts);
  if (last === null || last.time < since) return backups;
  const [newest] = backups;
  // The line may have been dropped with its month.
  if (newest === undefined) return [{ id: null, time: last.time, to: last.to, gone_by: null }];
  newest.to = last.to;
  return backups;
}

/** When the retention has removed each of the server's own backups in the place of the settings, at the latest. */
async function goneByOf(registry: Registry, now: number): Promise<Map<string, number | null>> {
  const settings = await readBackupSettings(registry.facts);
  const made = await registry.backups.list(BACKUPS, { states: ['made'] });
  const own = made.filter(({ target }) => target === settings.target);
  return new Map(own.map(({ id, begunMs }) => [id, goneBy(settings, Math.floor((begunMs ?? 0) / 1000), now)]));
}
