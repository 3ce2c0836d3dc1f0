/** The outcome for each sandbox of a job, with the reason where it was not done. */
import type { Job, JobResult } from '#lib/contract/schema.ts';
import { JOB_WORDS } from '../../../components/jobs/job-words.ts';

function OutcomeWord({ job, outcome, step }: { job: Job; outcome: JobResult['outcome']; step: boolean }) {
  if (outcome === 'done' && step) return <span>Done</span>;
  if (outcome === 'done') return <span>{JOB_WORDS[job.verb].done}</span>;
  if (outcome === 'failed') return <span className="font-[540] text-fault-ink">Failed</span>;
  return <span className="text-ink-2">Passed over</span>;
}

export function JobResults({ job, results }: { job: Job; results: readonly JobResult[] }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Sandbox</th>
          <th scope="col">Became</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {results.map(({ instance, outcome, reason }, at) => (
          <tr key={instance ?? `${at} ${reason}`}>
            <td className="max-md:col-start-1 md:whitespace-nowrap">
              {instance === null ? (
                <span className="text-ink-3">{job.verb === 'forget' ? 'a step' : 'unknown'}</span>
              ) : (
                <a href={`/sandboxes/${instance}`} className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
                  {instance}
                </a>
              )}
            </td>
            <td className="max-md:col-start-2 max-md:text-right md:whitespace-nowrap">
              <OutcomeWord job={job} outcome={outcome} step={job.verb === 'forget' && instance === null} />
            </td>
            <td className="max-md:col-span-full text-ink-2 md:w-full">{reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
