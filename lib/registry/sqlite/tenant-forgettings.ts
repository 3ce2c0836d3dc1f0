/**
 * The registry's part of forgetting a tenant: which tenants are being forgotten, their data, and its removal. While a
 * forgetting is open, triggers refuse new rows for its tenant. Every method is a repeatable step. Knows nothing of
 * files or of the order of the steps.
 */
import { tenantBeingForgotten } from '../registry-errors.ts';
import { tenantForgettingStatements } from '../statements/tenant-forgettings.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { LedgerEntry } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import { openAccessRemoval } from './forget-access.ts';
import { openJobRemoval } from './forget-jobs.ts';
import { openLineBlanking } from './forget-lines.ts';
import { openRecordRemoval } from './forget-records.ts';
import { forgottenIds } from './forgotten-ids.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openTenantForgettings(
  database: RegistryDatabase,
  ledger: LedgerTable,
  textsRemoved: () => void,
): SyncMethods<TenantForgettingStore> {
  const { insert, open, last, openOf, finish } = tenantForgettingStatements(database);
  const { idsOf, addIds } = forgottenIds(database);
  const access = openAccessRemoval(database, addIds);
  const { jobsOf, runningJobs, removeJobs } = openJobRemoval(database, addIds);
  const records = openRecordRemoval(database, textsRemoved);
  const requireNone = (tenants: readonly string[] | null) => {
    const found = openOf().get({ tenants: JSON.stringify(tenants ?? []) });
    if (found !== undefined) throw tenantBeingForgotten(found.tenant);
  };
  const logged = (entry: LedgerEntry, work: () => void) => {
    const lines = database.write(() => {
      work();
      return ledger.append([entry]);
    });
    ledger.announce(lines);
  };

  return {
    begin(forgetting, entry) {
      logged(entry, () => {
        requireNone([forgetting.tenant]);
        insert().run({ ...forgetting });
      });
    },
    open: () => open().all(),
    last: (tenant) => last().get({ tenant }) ?? null,
    requireNone,
    holdings(tenant, now, most) {
      const limited = access.limited(tenant);
      const only = limited.filter(({ others }) => others.length === 0).map(({ id }) => id);
      return {
        ...records.holdings(tenant, now, most),
        people: only.length,
        sessions: records.sessionsOf(only),
        limited: limited.length - only.length,
        invitations: access.invitations(tenant),
        jobs: jobsOf('', tenant).filter((job) => job.only).length,
      };
    },
    people: access.people,
    removeAccess: access.removeAccess,
    runningJobs,
    removeJobs,
    ...records.steps,
    ...openLineBlanking(database, ledger, idsOf),

    finish(job, now, entry) {
      logged(entry, () => {
        finish().run({ job, finished: now });
      });
    },
  };
}
