/**
 * Filters without a field of their own, which come with a link such as those of the overview. They are shown in words,
 * and each is removed by a link.
 */
import Link from 'next/link';
import { EXTRA_FILTERS, extraFilterInWords } from '#components/jobs/filter-words.ts';
import { addressWith } from '../search-params.ts';
import { visitorZone } from '../zone.ts';
import { LIST_PATH } from './list-path.ts';

export async function ExtraFilters({
  values,
  complaints,
  fields,
}: {
  values: Readonly<Record<string, string>>;
  complaints: Readonly<Partial<Record<string, string>>>;
  /** Those that have a field all the same. */
  fields: readonly string[];
}) {
  const zone = await visitorZone();
  const present = EXTRA_FILTERS.flatMap((name) => {
    const value = values[name];
    return value === undefined || fields.includes(name)
      ? []
      : [{ name, says: extraFilterInWords(name, value, zone) ?? value }];
  });
  if (present.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 pt-3" aria-label="Other filters">
      {present.map(({ name, says }) => {
        const { [name]: _gone, ...rest } = values;
        return (
          <li
            key={name}
            className="inline-flex max-w-full items-baseline gap-2 rounded-[3px] border border-rule-2 px-2 py-0.5 text-small"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {says}
              {complaints[name] !== undefined && <span className="text-fault-ink"> ({complaints[name]})</span>}
            </span>
            <Link
              href={addressWith(LIST_PATH, rest)}
              className="-my-0.5 px-1 no-underline hover:underline"
              aria-label={`Without: ${says}`}
            >
              ×
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
