/** The bulk job behind a move, as a link. */
import Link from 'next/link';
import { jobHeadline } from '#components/jobs/job-words.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { Event, Job } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

const JOB_ID = /^job-/;

/** The job under whose id a line was written; null for other lines, and for a job that is gone or not the caller's. */
async function jobOfLine(caller: Caller, { request_id: id, actor, time }: Event): Promise<Job | null> {
  if (id === null || !JOB_ID.test(id)) return null;
  try {
    const job = await getHost().operations.getJob(caller, id);
    // A request may bring any id: it is the job's line only when the job could have written it.
    return job.actor === actor && job.created <= time ? job : null;
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
}

export async function JobBehind({ caller, line }: { caller: Caller; line: Event }) {
  const job = await jobOfLine(caller, line);
  if (job === null) return null;
  return (
    <>
      {' '}
      It was one of a job:{' '}
      <Link href={`/jobs/${job.id}`} prefetch={false}>
        {jobHeadline({ ...job, state: 'done' })}
      </Link>
      {job.include_held && ', those kept hot, held or shown in a terminal too'}.
    </>
  );
}
