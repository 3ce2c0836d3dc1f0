/** Jobs in rows: what each does to how many, its progress, who started it and when. */
import Link from 'next/link';
import { ActorName } from '#app/actor-name.tsx';
import type { Job } from '#lib/contract/schema.ts';
import { LiveJobHeadline, LiveJobStatus } from '../../components/live/job.tsx';
import { RelativeTime } from '../../components/ui/relative-time.tsx';

/** `rendered`: the server's time in epoch seconds. */
export function JobTable({ jobs, rendered }: { jobs: readonly Job[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">How far</th>
          <th scope="col">Reason</th>
          <th scope="col">Who</th>
          <th scope="col" className="text-right whitespace-nowrap">
            When
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id}>
            <td className="max-md:col-start-1 md:whitespace-nowrap">
              <Link href={`/jobs/${job.id}`} prefetch={false} className="font-[540]">
                <LiveJobHeadline job={job} />
              </Link>
            </td>
            <td className="max-md:col-span-full md:whitespace-nowrap">
              <LiveJobStatus job={job} marked />
            </td>
            <td className="max-md:col-span-full text-ink-2 md:w-full">{job.reason}</td>
            <td className="max-md:col-start-1 text-small text-ink-2 md:whitespace-nowrap">
              <ActorName actor={job.actor} />
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
              <RelativeTime at={job.created} rendered={rendered} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
