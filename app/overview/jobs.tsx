/** The running jobs with their progress. */
import Link from 'next/link';
import { LiveJobBar, LiveJobFailures, LiveJobHeadline } from '#components/live/job.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import type { Job } from '#lib/contract/schema.ts';

const LOOK_MS = 10_000;

/** `more`: there are others that are not shown. */
export function RunningJobs({ jobs, more }: { jobs: readonly Job[]; more: boolean }) {
  return (
    <>
      <AutoRefresh everyMs={LOOK_MS} />
      <ul className="grid">
        {jobs.map((job) => (
          <li key={job.id} className="grid gap-1.5 border-b border-rule py-2 last:border-0">
            <p className="flex flex-wrap items-baseline gap-x-3">
              <Link href={`/jobs/${job.id}`} prefetch={false}>
                <LiveJobHeadline job={job} />
              </Link>
              <LiveJobFailures job={job} />
            </p>
            <LiveJobBar job={job} />
          </li>
        ))}
      </ul>
      {more && (
        <p className="pt-2 text-small">
          <Link href="/jobs" prefetch={false}>
            All of them
          </Link>
        </p>
      )}
    </>
  );
}
