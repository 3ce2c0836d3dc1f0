'use client';
/**
 * Shows a toast when something that the visitor began has ended, on whatever page they are by then. What the open page
 * shows itself is not repeated.
 */
import { usePathname } from 'next/navigation';
import { useEffect, useRef } from 'react';
import type { Event, Job } from '#lib/contract/schema.ts';
import { toast } from '../ui/toasts.tsx';
import { onLedgerLine } from './ledger-listener.ts';

const JOB_ENDS: readonly string[] = ['job.done', 'job.cancelled'];
/** How many jobs are looked at: those that may have ended together. */
const LOOKED_AT = 20;

/** The ended jobs of `actor`, newest first. None when the server does not answer. */
async function endedJobs(actor: string): Promise<Job[]> {
  const answer = await fetch(`/api/jobs?limit=${LOOKED_AT}`, { headers: { accept: 'application/json' } });
  if (!answer.ok) return [];
  const jobs = (await answer.json()) as Job[];
  return jobs.filter((job) => job.actor === actor && job.finished !== null);
}

/** A toast for a job that ended. A job that skipped or failed some is not a success. */
async function sayJob(job: Job): Promise<void> {
  const { jobHeadline, jobStatusInWords } = await import('../jobs/job-words.ts');
  toast({
    key: `job ${job.id}`,
    ok: job.state === 'done' && job.failed === 0,
    says: `${jobHeadline(job)}: ${jobStatusInWords(job)}.`,
    link: { label: 'Look at the job', href: `/jobs/${job.id}` },
  });
}

/** A toast for a batch that has started: `60 of 60 started from the blueprint notes.` */
function sayStart({ reason }: Event): void {
  const [, started, total] = /^(\d+) of (\d+) started/.exec(reason ?? '') ?? [];
  if (reason !== null) toast({ ok: started === total, says: `${reason}.` });
}

/**
 * `actor`: the visitor, as the ledger names them. `since`: only what ended at or after this time is reported, in epoch
 * seconds.
 */
export function JobNotifier({ actor, since }: { actor: string; since: number }) {
  const pathname = usePathname();
  const here = useRef(pathname);
  here.current = pathname;
  const from = useRef(since);
  const reported = useRef(new Set<string>());
  useEffect(
    () =>
      onLedgerLine((event) => {
        // A hidden tab stays silent: a visible one shows the toast.
        if (event.actor !== actor || document.visibilityState !== 'visible') return;
        if (event.type === 'start.done') sayStart(event);
        if (!JOB_ENDS.includes(event.type)) return;
        endedJobs(actor).then(
          (jobs) => {
            for (const job of jobs) {
              if ((job.finished ?? 0) < from.current || reported.current.has(job.id)) continue;
              reported.current.add(job.id);
              if (here.current !== `/jobs/${job.id}`) {
                // The words did not come: the job's page says how it went.
                sayJob(job).catch(() => {});
              }
            }
          },
          // No answer just now: the job's page and the ledger show the result anyway.
          () => {},
        );
      }),
    [actor],
  );
  return null;
}
