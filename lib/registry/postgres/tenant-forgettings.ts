/**
 * The registry's part of forgetting a tenant: which tenants are being forgotten, their data, and its removal. While a
 * forgetting is open, triggers refuse new rows for its tenant. Every method is a repeatable step. Knows nothing of
 * files or of the order of the steps.
 */
import { tenantBeingForgotten } from '../registry-errors.ts';
import { tenantForgettingStatements } from '../statements/tenant-forgettings.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';
import { openAccessRemoval } from './forget-access.ts';
import { openJobRemoval } from './forget-jobs.ts';
import { openLineBlanking } from './forget-lines.ts';
import { openRecordRemoval } from './forget-records.ts';
import { forgottenIds } from './forgotten-ids.ts';
import type { LedgerTable } from './ledger.ts';

export function openTenantForgettings(database: PostgresDatabase, ledger: LedgerTable): TenantForgettingStore {
  const { insert, open, last, openOf, finish } = database.with(tenantForgettingStatements);
  const { idsOf, addIds } = forgottenIds(database);
  const access = openAccessRemoval(database, addIds);
  const { jobsOf, runningJobs, removeJobs } = openJobRemoval(database, addIds);
  const records = openRecordRemoval(database);
  const requireNone = async (tenants: readonly string[] | null) => {
    const found = await openOf().get({ tenants: JSON.stringify(tenants ?? []) });
    if (found !== undefined) throw tenantBeingForgotten(found.tenant);
  };

  return {
    async begin(forgetting, entry) {
      await ledger.recorded([entry], async () => {
        await requireNone([forgetting.tenant]);
        await insert().run({ ...forgetting });
      });
    },
    open: async () => await open().all(),
    last: async (tenant) => (await last().get({ tenant })) ?? null,
    requireNone,
    async holdings(tenant, now, most) {
      const limited = await access.limited(tenant);
      const only = limited.filter(({ others }) => others.length === 0).map(({ id }) => id);
      return {
        ...(await records.holdings(tenant, now, most)),
        people: only.length,
        sessions: await records.sessionsOf(only),
        limited: limited.length - only.length,
        invitations: await access.invitations(tenant),
        jobs: (await jobsOf('', tenant)).filter((job) => job.only).length,
      };
    },
    people: access.people,
    removeAccess: access.removeAccess,
    runningJobs,
    removeJobs,
    ...records.steps,
    ...openLineBlanking(database, ledger, idsOf),

    async finish(job, now, entry) {
      await ledger.recorded([entry], () => finish().run({ job, finished: now }));
    },
  };
}
