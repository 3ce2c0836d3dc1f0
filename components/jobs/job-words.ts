/** What the console calls jobs: their verbs, how far they are, what they are about. Pure. */
import type { Job, JobFilter } from '#lib/contract/schema.ts';
import type { JobKind } from '#lib/lifecycle/verb-plan.ts';
import { extraFilterInWords } from './filter-words.ts';

interface Forms {
  /** `Suspend`, for a button. */
  order: string;
  /** `Suspending`, while it runs. */
  doing: string;
  /** `Suspended`, of those that are done. */
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
};

/** `1 sandbox`, `1,234 sandboxes`. */
export function sandboxesInWords(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'sandbox' : 'sandboxes'}`;
}

/** How many of a job have a result. */
export function finishedCount(job: Pick<Job, 'done' | 'failed' | 'skipped'>): number {
  return job.done + job.failed + job.skipped;
}

/** The first words of a job's headline: what it does or did to how many. */
export function jobHeadline(job: Pick<Job, 'verb' | 'state' | 'chosen' | 'filter'>): string {
  const { order, doing, done } = JOB_WORDS[job.verb];
  if (job.verb === 'forget') return `${job.state === 'running' ? doing : done} the tenant ${job.filter?.tenant ?? ''}`;
  return `${job.state === 'running' ? doing : order} ${sandboxesInWords(job.chosen)}`;
}

/** The rest of it: how far it is or how it ended. */
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

/** What a filter chooses, in words: `tenant acme, state suspended`; everything when it is empty. */
export function filterInWords(filter: JobFilter): string {
  const words = Object.entries(filter).map(
    ([key, value]) => extraFilterInWords(key, String(value)) ?? `${key === 'q' ? 'found by' : key} ${value}`,
  );
  return words.length === 0 ? 'everything' : words.join(', ');
}

/**
 * Labels as they are typed, a line each: `key: value` sets one, `key:` alone takes it away. A line without a colon is a
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
