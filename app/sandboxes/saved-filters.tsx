/** The filters that a visitor saved, as links, and the form that saves the one shown. */
import Link from 'next/link';
import { LIST_PATH } from './list-path.ts';
import type { SavedFilter } from './list-settings.ts';
import { removeFilter, saveFilter } from './list-settings-actions.ts';
import { SaveFilterForm } from './save-filter-form.tsx';

/** `search`: the search of the list's address; null where no filter is set. */
export function SavedFilters({ saved, search }: { saved: readonly SavedFilter[]; search: string | null }) {
  if (saved.length === 0 && search === null) return null;
  const isSaved = saved.some((one) => one.search === search);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 pt-1.5 text-small">
      {saved.length > 0 && (
        <ul className="flex flex-wrap gap-2" aria-label="Saved filters">
          {saved.map(({ name, search: address }) => (
            <li
              key={name}
              className="inline-flex max-w-full items-center gap-1 rounded-[3px] border border-rule-2 pl-2 aria-[current]:border-ink"
              aria-current={address === search ? 'true' : undefined}
            >
              <Link href={`${LIST_PATH}?${address}`} prefetch={false} className="min-w-0 [overflow-wrap:anywhere]">
                {name}
              </Link>
              <form action={removeFilter.bind(null, name)}>
                <button
                  type="submit"
                  className="px-1.5 py-0.5 text-ink-2 hover:text-ink"
                  aria-label={`Forget the filter ${name}`}
                >
                  ×
                </button>
              </form>
            </li>
          ))}
        </ul>
      )}
      {search !== null && !isSaved && (
        <details className="group">
          <summary className="cursor-pointer py-0.5 underline decoration-rule-2 underline-offset-3 group-open:no-underline">
            Save this filter
          </summary>
          <SaveFilterForm action={saveFilter.bind(null, search)} />
        </details>
      )}
    </div>
  );
}
