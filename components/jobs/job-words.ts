/** Jobs in words: verbs, progress, filters. Pure. */
import type { Job, JobFilter } from '#lib/contract/schema.ts';
import type { JobKind } from '#lib/lifecycle/job-verbs.ts';
import { extraFilterInWords } from './filter-words.ts';

interface Forms {
  /** `Suspend`, for a button. */
  order: string;
  /** `Suspending`, while it runs. */
  doing: string;
  /** `Suspended`, for the finished ones. */
  done: string;
}

export const JOB_WORDS: Readonly<Record<JobKind, Forms>> = {
  resume: { order: 'Resume', doing: 'Waking', done: 'Awake' },
  suspend: { order: 'Suspend', doing: 'Suspending', done: 'Suspended' },
  freeze: { order: 'Freeze', doing: 'Freezing', done: 'Frozen' },
  archive: { order: 'Archive', doing: 'Archiving', done: 'Archived' },
  revive: { order: 'Revive', doing: 'Reviving', done: 'Revived' },
  delete: { order: 'Delete', doing: 'Deleting', done: 'Deleted' },
  label: { order: 'Label', doing: 'Labelling', done: 'Labelled' },
  forget: { order: 'Forget', doing: 'Forgetting', done: 'Forgotten' },
  drain: { order: 'Hand over', doing: 'Handing over', done: 'Handed over' },
};

/** `1 sandbox`, `1,234 sandboxes`. */
export function sandboxesInWords(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'sandbox' : 'sandboxes'}`;
}

/** How many sandboxes of a job have a result. */
export function finishedCount(job: Pick<Job, 'done' | 'failed' | 'skipped'>): number {
  return job.done + job.failed + job.skipped;
}

/** The first half of a job's headline: what it does or did, to how many. */
export function jobHeadline(job: Pick<Job, 'verb' | 'state' | 'chosen' | 'filter'>): string {
  const { order, doing, done } = JOB_WORDS[job.verb];
  if (job.verb === 'forget') return `${job.state === 'running' ? doing : done} the tenant ${job.filter?.tenant ?? ''}`;
  return `${job.state === 'running' ? doing : order} ${sandboxesInWords(job.chosen)}`;
}

/** The second half: how far it is, or how it ended. */
export function jobStatusInWords(job: Pick<Job, 'state' | 'chosen' | 'done' | 'failed' | 'skipped'>): string {
  const settled = finishedCount(job).toLocaleString('en');
  if (job.state === 'running') {
    const failed = job.failed > 0 ? `, ${job.failed.toLocaleString('en')} failed` : '';
    return `${settled} of ${job.chosen.toLocaleString('en')} so far${failed}`;
  }
  if (job.state === 'cancelled') return `cancelled after ${settled}`;
  const wrong = [
    ...(job.failed > 0 ? [`${job.failed.toLocaleString('en')} failed`] : []),
    ...(job.skipped > 0 ? [`${job.skipped.toLocaleString('en')} passed over`] : []),
  ];
  return wrong.length === 0 ? 'all done' : `${job.done.toLocaleString('en')} done, ${wrong.join(', ')}`;
}

/** A filter in words: `tenant acme, state suspended`; everything when it is empty. `zone`: the reader's. */
export function filterInWords(filter: JobFilter, zone: string): string {
  const words = Object.entries(filter).map(
    ([key, value]) => extraFilterInWords(key, String(value), zone) ?? `${key === 'q' ? 'found by' : key} ${value}`,
  );
  return words.length === 0 ? 'everything' : words.join(', ');
}

/**
 * Label changes as text, one a line: `key: value` sets a label, `key:` alone removes it. A line without a colon is a
 * key without a value.
 */
export function labelChanges(text: string): Record<string, string | null> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line): [string, string | null] => {
      const cut = line.indexOf(':');
      const value = cut < 0 ? '' : line.slice(cut + 1).trim();
      return [(cut < 0 ? line : line.slice(0, cut)).trim(), value === '' ? null : value];
    }),
  );
}
