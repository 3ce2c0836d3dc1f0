'use client';
/** Live parts of a job: headline, status, progress bar, tabs, and what is shown only while it runs. */
import type { ReactNode } from 'react';
import type { Job } from '#lib/contract/schema.ts';
import { finishedCount, jobHeadline, jobStatusInWords } from '../jobs/job-words.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useJob } from './live-data.tsx';

interface Props {
  job: Job;
}

/** `Freezing 5 sandboxes`. */
export function LiveJobHeadline({ job }: Props) {
  return jobHeadline(useJob(job));
}

/** `3 of 5 so far`. `marked`: in the fault colour when some failed. */
export function LiveJobStatus({ job, marked = false }: Props & { marked?: boolean }) {
  const now = useJob(job);
  return <span className={marked && now.failed > 0 ? 'text-fault-ink' : undefined}>{jobStatusInWords(now)}</span>;
}

/** How many failed, when there are any. */
export function LiveJobFailures({ job }: Props) {
  const { failed } = useJob(job);
  if (failed === 0) return null;
  return <span className="text-small text-fault-ink">{failed.toLocaleString('en')} failed so far</span>;
}

/** The progress bar. `label`: its accessible name; the headline by default. */
export function LiveJobBar({ job, label }: Props & { label?: string }) {
  const now = useJob(job);
  return <ProgressBar label={label ?? jobHeadline(now)} value={finishedCount(now)} max={now.chosen} />;
}

/** Content that is shown only while the job runs. */
export function WhileRunning({ job, children }: Props & { children: ReactNode }) {
  return useJob(job).state === 'running' ? children : null;
}

interface JobTab {
  name: string;
  /** The outcome whose count stands beside the name; absent: all of them. */
  counts?: 'done' | 'failed' | 'skipped';
  href: string;
  current: boolean;
}

/** Tabs that filter the results by outcome, with counts. */
export function LiveJobTabs({ job, tabs }: Props & { tabs: readonly JobTab[] }) {
  const now = useJob(job);
  const count = ({ counts }: JobTab) => (counts === undefined ? finishedCount(now) : now[counts]);
  return (
    <Tabs
      label="Results"
      tabs={tabs.map((tab) => ({ ...tab, name: `${tab.name} ${count(tab).toLocaleString('en')}` }))}
    />
  );
}
