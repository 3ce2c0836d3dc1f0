/** Jobs in rows: what each does to how many, its progress, who started it and when. */
import Link from 'next/link';
import type { Job } from '#lib/contract/schema.ts';
import { nameOfActor } from '../../components/ledger/event-words.ts';
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
          <th scope="col" className="figure">
            When
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id}>
            <td className="left md:whitespace-nowrap">
              <Link href={`/jobs/${job.id}`} prefetch={false} className="font-[540]">
                <LiveJobHeadline job={job} />
              </Link>
            </td>
            <td className="whole md:whitespace-nowrap">
              <LiveJobStatus job={job} marked />
            </td>
            <td className="whole text-ink-2 md:w-full">{job.reason}</td>
            <td className="left text-small text-ink-2 md:whitespace-nowrap">{nameOfActor(job.actor)}</td>
            <td className="figure right text-small text-ink-2">
              <RelativeTime at={job.created} rendered={rendered} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
