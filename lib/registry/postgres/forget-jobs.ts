/** The jobs of a forgotten tenant: those that selected some of its sandboxes, and how they are removed. */
import { decodeRowNumbers, INSTANCES_PER_PAGE } from '../job-pages.ts';
import { jobRemovalStatements } from '../statements/forget-jobs.ts';
import type { ConcernedJob, ForgottenIds, TenantForgettingStore } from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';

export function openJobRemoval(
  database: PostgresDatabase,
  addIds: (job: string, more: Partial<ForgottenIds>) => Promise<void>,
): Pick<TenantForgettingStore, 'runningJobs' | 'removeJobs'> & {
  jobsOf(job: string, tenant: string): Promise<ConcernedJob[]>;
} {
  const { numbers, others, pages, removals, muteResults, mute } = database.with(jobRemovalStatements);
  const jobsOf = async (job: string, tenant: string): Promise<ConcernedJob[]> => {
    const rows = new Set((await numbers().all({ tenant })).map(({ row }) => row));
    const found: ConcernedJob[] = [];
    for (const { seq, id, state, tenants, chosen } of await others().all({ job })) {
      const own = (await pages().all({ seq })).flatMap(({ page, rows: bytes }) =>
        [...decodeRowNumbers(bytes).entries()].flatMap(([at, row]) =>
          rows.has(row) ? [page * INSTANCES_PER_PAGE + at] : [],
        ),
      );
      const named = tenants?.length === 1 && tenants[0] === tenant;
      const only = named || own.length === chosen;
      if (named || own.length > 0) found.push({ seq, id, running: state === 'running', only, own });
    }
    return found;
  };

  return {
    jobsOf,
    runningJobs: async (job, tenant) => (await jobsOf(job, tenant)).filter(({ running }) => running),
    removeJobs: (job, tenant) =>
      database.write(async () => {
        const found = await jobsOf(job, tenant);
        await addIds(job, { jobs: found.map(({ id }) => id) });
        for (const { seq, only, own } of found) {
          if (only) {
            for (const removal of removals) await removal().run({ seq });
          } else {
            await muteResults().run({ seq, own: JSON.stringify(own) });
            await mute().run({ seq });
          }
        }
        return { jobs: found.filter(({ only }) => only).length };
      }),
  };
}
