/** The filters of the support desk, as fields of a plain GET form. */
import Link from 'next/link';
import type { ParsedFilters } from '../filter-parser.ts';
import type { ArchiveFilter } from './query.ts';

const SORTS: readonly [value: string, label: string][] = [
  ['updated', 'Filed last'],
  ['-updated', 'Filed first'],
  ['name', 'Name, a to z'],
  ['bytes', 'Largest'],
];

function Typed({
  name,
  title,
  placeholder,
  type = 'text',
  parsed: { filters, complaints },
}: {
  name: ArchiveFilter;
  title: string;
  placeholder?: string;
  type?: 'text' | 'date';
  parsed: ParsedFilters<ArchiveFilter, unknown>;
}) {
  const complaint = complaints[name];
  const value = type === 'date' ? filters[name]?.slice(0, 10) : filters[name];
  return (
    <label className="field">
      <span className="field-name">{title}</span>
      <input
        type={type}
        className="input"
        name={name}
        key={value}
        defaultValue={value}
        placeholder={placeholder}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={complaint === undefined ? undefined : true}
        aria-describedby={complaint === undefined ? undefined : `desk-${name}-complaint`}
      />
      {complaint !== undefined && (
        <span className="complaint mt-1 block" id={`desk-${name}-complaint`}>
          {complaint}
        </span>
      )}
    </label>
  );
}

export function ArchiveFilters({ parsed }: { parsed: ParsedFilters<ArchiveFilter, unknown> }) {
  const { sort, ...narrowing } = parsed.filters;
  return (
    <div className="grid grid-cols-2 items-start gap-x-4 gap-y-3 lg:grid-cols-[1.6fr_1fr_1fr_1fr_1fr_1fr_auto]">
      <div className="col-span-2 lg:col-span-1">
        <Typed name="q" title="Find" placeholder="id, name, tenant or label" parsed={parsed} />
      </div>
      <Typed name="tenant" title="Tenant" placeholder="any" parsed={parsed} />
      <Typed name="label" title="Label" placeholder="key:value" parsed={parsed} />
      <Typed name="since" title="Filed since" type="date" parsed={parsed} />
      <Typed name="until" title="Filed until" type="date" parsed={parsed} />
      <label className="field">
        <span className="field-name">Order</span>
        <select className="input" name="sort" key={sort} defaultValue={sort ?? 'updated'}>
          {SORTS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <div className="beside-fields flex items-center gap-4">
        <button type="submit" className="button">
          Find
        </button>
        {Object.keys(narrowing).length > 0 && (
          <Link href="/archive" className="text-small" prefetch={false}>
            Clear
          </Link>
        )}
      </div>
    </div>
  );
}
