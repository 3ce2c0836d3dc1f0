/**
 * Forgetting a tenant, as rows: which tenants are being forgotten, what they have, and how it goes from the tables.
 * While one is open, triggers refuse whatever would be made for its tenant. Each method is a step that may be repeated.
 * Knows nothing of files or of the order of the steps.
 */
import { and, desc, eq, getTableColumns, isNull, placeholder } from '../../../db/drizzle.ts';
import { forgettings } from '../../../db/schema.ts';
import { tenantBeingForgotten } from '../registry-errors.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { LedgerEntry } from '../types.ts';
import { aboutForgotten } from './about-forgotten.ts';
import type { RegistryDatabase } from './database.ts';
import { forgottenAccess } from './forgotten-access.ts';
import { forgottenJobs } from './forgotten-jobs.ts';
import { forgottenLines } from './forgotten-lines.ts';
import { forgottenRecords } from './forgotten-records.ts';
import type { Ledger } from './ledger.ts';
import { bound, boundAll } from './placeholders.ts';
import type { Synchronous } from './promised.ts';
import { among, rowid } from './raw.ts';
import { instanceText } from './text-index.ts';

export function openForgettings(
  database: RegistryDatabase,
  ledger: Ledger,
  wordsRemoved: () => void,
): Synchronous<TenantForgettingStore> {
  const { about: _, ...columns } = getTableColumns(forgettings);
  const { finished, ...begun } = columns;
  const insert = database.statement((queries) => queries.insert(forgettings).values(boundAll(begun)).prepare());
  const open = database.statement((queries) =>
    queries
      .select(columns)
      .from(forgettings)
      .where(isNull(finished))
      .orderBy(forgettings.started, forgettings.job)
      .prepare(),
  );
  const last = database.statement((queries) =>
    queries
      .select(columns)
      .from(forgettings)
      .where(eq(forgettings.tenant, placeholder('tenant')))
      .orderBy(desc(forgettings.started), desc(rowid(forgettings)))
      .limit(1)
      .prepare(),
  );
  const openOf = database.statement((queries) =>
    queries
      .select({ tenant: forgettings.tenant })
      .from(forgettings)
      .where(and(isNull(finished), among(forgettings.tenant, 'tenants')))
      .limit(1)
      .prepare(),
  );
  const finish = database.statement((queries) =>
    queries
      .update(forgettings)
      .set({ finished: bound('finished'), about: null })
      .where(and(eq(forgettings.job, placeholder('job')), isNull(finished)))
      .prepare(),
  );

  /** A command of FTS5 that looks like a row: the index is written anew, without the words of what is gone. */
  const optimize = database.statement((queries) =>
    queries.insert(instanceText).values({ rowid: 0, match: 'optimize' }).prepare(),
  );

  const { aboutOf, keepInMind } = aboutForgotten(database);
  const access = forgottenAccess(database, keepInMind);
  const { jobsOf, runningJobs, removeJobs } = forgottenJobs(database, keepInMind);
  const records = forgottenRecords(database, wordsRemoved);

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
    ...forgottenLines(database, ledger, aboutOf),

    compact() {
      database.write(() => optimize().run());
      wordsRemoved();
      database.compact();
    },
    emptyLog: () => database.emptyLog(),
    finish(job, now, entry) {
      logged(entry, () => {
        finish().run({ job, finished: now });
      });
    },
  };
}
