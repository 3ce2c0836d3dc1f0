/** The jobs of a forgotten tenant: those that selected some of its sandboxes, and how they are removed. */
import { decodeRowNumbers, INSTANCES_PER_PAGE } from '../job-pages.ts';
import { jobRemovalStatements } from '../statements/forget-jobs.ts';
import type { ConcernedJob, ForgottenIds, TenantForgettingStore } from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

export function openJobRemoval(
  database: RegistryDatabase,
  addIds: (job: string, more: Partial<ForgottenIds>) => void,
): Pick<SyncMethods<TenantForgettingStore>, 'runningJobs' | 'removeJobs'> & {
  jobsOf(job: string, tenant: string): ConcernedJob[];
} {
  const { numbers, others, pages, removals, muteResults, mute } = jobRemovalStatements(database);
  const jobsOf = (job: string, tenant: string): ConcernedJob[] => {
    const rows = new Set(
      numbers()
        .all({ tenant })
        .map(({ row }) => row),
    );
    return others()
      .all({ job })
      .flatMap(({ seq, id, state, tenants, chosen }) => {
        const own = pages()
          .all({ seq })
          .flatMap(({ page, rows: bytes }) =>
            [...decodeRowNumbers(bytes).entries()].flatMap(([at, row]) =>
              rows.has(row) ? [page * INSTANCES_PER_PAGE + at] : [],
            ),
          );
        const named = tenants?.length === 1 && tenants[0] === tenant;
        const only = named || own.length === chosen;
        return named || own.length > 0 ? [{ seq, id, running: state === 'running', only, own }] : [];
      });
  };

  return {
    jobsOf,
    runningJobs: (job, tenant) => jobsOf(job, tenant).filter(({ running }) => running),
    removeJobs: (job, tenant) =>
      database.write(() => {
        const found = jobsOf(job, tenant);
        addIds(job, { jobs: found.map(({ id }) => id) });
        for (const { seq, only, own } of found) {
          if (only) {
            for (const removal of removals) removal().run({ seq });
          } else {
            muteResults().run({ seq, own: JSON.stringify(own) });
            mute().run({ seq });
          }
        }
        return { jobs: found.filter(({ only }) => only).length };
      }),
  };
}
