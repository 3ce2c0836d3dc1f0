/** The one box of the support desk, and behind it the single filters, as fields of a plain GET form. */
import Link from 'next/link';
import { FilterField } from '../filter-fields.tsx';
import { readingInWords } from './desk-text.ts';
import type { ArchiveFilter, ParsedDesk } from './query.ts';

const SORTS: readonly [value: string, label: string][] = [
  ['updated', 'Filed last'],
  ['-updated', 'Filed first'],
  ['name', 'Name, a to z'],
  ['bytes', 'Largest'],
];

function Typed({
  name,
  type = 'text',
  parsed: { filters, complaints },
  ...look
}: {
  name: ArchiveFilter;
  title: string;
  placeholder?: string;
  type?: 'text' | 'date';
  large?: boolean;
  parsed: ParsedDesk;
}) {
  const value = type === 'date' ? filters[name]?.slice(0, 10) : filters[name];
  return <FilterField {...look} name={name} type={type} value={value} complaint={complaints[name]} />;
}

export function ArchiveFilters({ parsed }: { parsed: ParsedDesk }) {
  const { q: _, sort, ...single } = parsed.filters;
  const read = readingInWords(parsed.reading);
  return (
    <div className="grid gap-3">
      <div className="grid items-start gap-x-4 gap-y-2 sm:grid-cols-[minmax(0,44rem)_auto]">
        <Typed
          name="q"
          title="What does the customer say?"
          placeholder="ada@example.com, acme, part of a name, env:prod, 22.11.2026"
          large
          parsed={parsed}
        />
        <div className="flex items-center gap-4 sm:pt-[1.375rem]">
          <button type="submit" className="button button-ink !min-h-12 !px-6">
            Find
          </button>
          {Object.keys(parsed.filters).some((name) => name !== 'sort') && (
            <Link href="/archive" className="text-small" prefetch={false}>
              Clear
            </Link>
          )}
        </div>
      </div>
      {read !== null && <p className="text-small text-ink-2">Read as {read}.</p>}
      <details open={Object.keys(single).length > 0 || sort !== undefined}>
        <summary className="button button-quiet w-fit">One by one: tenant, label, days, order</summary>
        <div className="grid max-w-5xl grid-cols-2 items-start gap-x-4 gap-y-3 pt-3 lg:grid-cols-5">
          <Typed name="tenant" title="Tenant" placeholder="any" parsed={parsed} />
          <Typed name="label" title="Label" placeholder="key:value" parsed={parsed} />
          <Typed name="since" title="Filed since" type="date" parsed={parsed} />
          <Typed name="until" title="Filed until" type="date" parsed={parsed} />
          <label className="block min-w-0">
            <span className="field-name">Order</span>
            <select className="input" name="sort" key={sort} defaultValue={sort ?? ''}>
              {SORTS.map(([value, label]) => (
                <option key={value} value={value === 'updated' ? '' : value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      </details>
    </div>
  );
}
