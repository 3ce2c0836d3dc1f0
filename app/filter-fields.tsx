/** The typed filters of a list, each with its complaint, the button that applies them and the link that clears them. */
import Link from 'next/link';
import type { ParsedFilters } from './filter-parser.ts';

/** One typed filter with its complaint. */
export function FilterField({
  name,
  title,
  placeholder,
  value,
  complaint,
  type = 'text',
  large = false,
}: Record<'name' | 'title', string> & {
  placeholder?: string | undefined;
  value: string | undefined;
  complaint: string | undefined;
  type?: 'text' | 'date';
  large?: boolean;
}) {
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <input
        key={value}
        type={type}
        className={large ? 'input !min-h-12 !text-[1.0625rem]' : 'input'}
        name={name}
        defaultValue={value}
        placeholder={placeholder}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={complaint === undefined ? undefined : true}
        aria-describedby={complaint === undefined ? undefined : `filter-${name}-complaint`}
      />
      {complaint !== undefined && (
        <span className="complaint mt-1 block" id={`filter-${name}-complaint`}>
          {complaint}
        </span>
      )}
    </label>
  );
}

/** `className`: the columns of the grid, the last one for the button. `clear`: the address without filters. */
export function FilterFields<F extends string>({
  fields,
  parsed: { filters, complaints },
  clear,
  className,
}: {
  fields: readonly (readonly [name: F, title: string, placeholder: string])[];
  parsed: ParsedFilters<F, unknown>;
  clear: string;
  className: string;
}) {
  return (
    <div className={`grid items-start gap-x-4 gap-y-3 ${className}`}>
      {fields.map(([name, title, placeholder]) => (
        <FilterField key={name} {...{ name, title, placeholder }} value={filters[name]} complaint={complaints[name]} />
      ))}
      <div className="flex items-center gap-4 sm:beside-fields">
        <button type="submit" className="button">
          Show
        </button>
        {Object.keys(filters).length > 0 && (
          <Link href={clear} className="text-small">
            Clear
          </Link>
        )}
      </div>
    </div>
  );
}
