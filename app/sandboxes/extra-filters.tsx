/** The filters that have no field of their own and come with a link, such as those of the overview: each said in words, kept by the form, and taken away by a link. */
import Link from 'next/link';
import { exactMoment } from '#components/durations.ts';
import { addressWith } from '../search.ts';

const moment = (value: string) => (/^\d{1,11}$/.test(value) ? exactMoment(Number(value)) : value);

const EXTRA: Readonly<Record<string, (value: string) => string>> = {
  pending: (value) => (value === 'stuck' ? 'stuck for more than a minute' : 'an operation is under way'),
  due_since: (value) => `moves by itself from ${moment(value)} on`,
  due_until: (value) => `moves by itself until ${moment(value)}`,
  since: (value) => `last active since ${moment(value)}`,
  until: (value) => `last active until ${moment(value)}`,
  thermal: (value) => (value === 'hot' ? 'with a process' : value === 'cold' ? 'without a process' : value),
  name: (value) => `named “${value}”`,
};

export function ExtraFilters({
  values,
  complaints,
}: {
  values: Readonly<Record<string, string>>;
  complaints: Readonly<Record<string, string>>;
}) {
  const present = Object.entries(EXTRA).flatMap(([name, words]) => {
    const value = values[name];
    return value === undefined ? [] : [{ name, value, says: words(value) }];
  });
  if (present.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 pt-3" aria-label="Other filters">
      {present.map(({ name, value, says }) => {
        const { [name]: _gone, cursor: _cursor, ...rest } = values;
        return (
          <li
            key={name}
            className="inline-flex max-w-full items-baseline gap-2 rounded-[3px] border border-rule-2 px-2 py-0.5 text-small"
          >
            <input type="hidden" name={name} value={value} />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {says}
              {complaints[name] !== undefined && <span className="text-fault-ink"> ({complaints[name]})</span>}
            </span>
            <Link
              href={addressWith('/sandboxes', rest)}
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
