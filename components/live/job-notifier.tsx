'use client';
/**
 * Says that something the visitor began has ended, wherever in the console he is by then. What the page shows itself is
 * not said again.
 */
import { usePathname } from 'next/navigation';
import { useEffect, useRef } from 'react';
import type { Event, Job } from '#lib/contract/schema.ts';
import { jobHeadline, jobStatusInWords } from '../jobs/job-words.ts';
import { toast } from '../ui/toasts.tsx';
import { onLedgerLine } from './ledger-listener.ts';

const JOB_ENDS: readonly string[] = ['job.done', 'job.cancelled'];
/** Jobs of his that may have ended together. */
const LOOKED_AT = 20;

/** The jobs of `actor` that have ended, newest first. None when the server does not say. */
async function endedJobs(actor: string): Promise<Job[]> {
  const answer = await fetch(`/api/jobs?limit=${LOOKED_AT}`, { headers: { accept: 'application/json' } });
  if (!answer.ok) return [];
  const jobs = (await answer.json()) as Job[];
  return jobs.filter((job) => job.actor === actor && job.finished !== null);
}

/** Says how a job ended. One that passed over or failed some is no success. */
function sayJob(job: Job): void {
  toast({
    key: `job ${job.id}`,
    ok: job.state === 'done' && job.failed === 0,
    says: `${jobHeadline(job)}: ${jobStatusInWords(job)}.`,
    link: { label: 'Look at the job', href: `/jobs/${job.id}` },
  });
}

/** How starting what was made from a copy went: `60 of 60 started from the blueprint notes.` */
function sayStart({ reason }: Event): void {
  const [, started, total] = /^(\d+) of (\d+) started/.exec(reason ?? '') ?? [];
  if (reason !== null) toast({ ok: started === total, says: `${reason}.` });
}

/**
 * `actor`: the visitor, as the ledger writes him; `since`: nothing is said of what ended before, in epoch seconds; the
 * first counts.
 */
export function JobNotifier({ actor, since }: { actor: string; since: number }) {
  const pathname = usePathname();
  const here = useRef(pathname);
  here.current = pathname;
  const from = useRef(since);
  const said = useRef(new Set<string>());
  useEffect(
    () =>
      onLedgerLine((event) => {
        // Another tab says it when this one is not looked at.
        if (event.actor !== actor || document.visibilityState !== 'visible') return;
        if (event.type === 'start.done') sayStart(event);
        if (!JOB_ENDS.includes(event.type)) return;
        endedJobs(actor).then(
          (jobs) => {
            for (const job of jobs) {
              if ((job.finished ?? 0) < from.current || said.current.has(job.id)) continue;
              said.current.add(job.id);
              if (here.current !== `/jobs/${job.id}`) sayJob(job);
            }
          },
          // The server does not answer just now: the job's page and the ledger say it all the same.
          () => {},
        );
      }),
    [actor],
  );
  return null;
}
