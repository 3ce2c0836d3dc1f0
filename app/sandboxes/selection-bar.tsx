/**
 * The form for bulk actions on the ticked rows, or on everything that matches. It leads to the dry run, which changes
 * nothing.
 */
import Link from 'next/link';
import { JOB_WORDS, sandboxesInWords } from '#components/jobs/job-words.ts';
import { JOB_VERBS } from '#lib/lifecycle/job-verbs.ts';
import { TickedCount } from './select-rows.tsx';

export const SELECTION_FORM = 'choose';

/** `filter`: the filters of the page. `total`: how many match. `exact`: false when there are at least so many. */
export function SelectionBar({
  filter,
  total,
  exact,
}: {
  filter: Readonly<Record<string, string>>;
  total: number;
  exact: boolean;
}) {
  const filtered = Object.keys(filter).length > 0;
  const count = exact ? sandboxesInWords(total) : `more than ${sandboxesInWords(total)}`;
  return (
    <form
      id={SELECTION_FORM}
      action="/jobs/new"
      className="flex flex-wrap items-center gap-x-5 gap-y-3"
      aria-label="Do something to many"
    >
      {Object.entries(filter).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <label className="flex items-center gap-2 text-small">
        <input type="checkbox" className="size-4 flex-none accent-ink" name="all" value="1" />
        <span>
          {filtered ? 'All that match' : 'All there are'} <span className="text-ink-3">({count})</span>
        </span>
      </label>
      <TickedCount form={SELECTION_FORM} />
      <label>
        <span className="sr-only">What to do</span>
        <select className="input w-32" name="verb" defaultValue="suspend">
          {JOB_VERBS.map((verb) => (
            <option key={verb} value={verb}>
              {JOB_WORDS[verb].order}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="button">
        Show what it would do
      </button>
      <Link href="/jobs" prefetch={false} className="text-small">
        Jobs
      </Link>
    </form>
  );
}
