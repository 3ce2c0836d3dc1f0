/** The filters of the ledger, as fields of a plain GET form. */
import Link from 'next/link';
import { EVENT_TYPES } from '#components/ledger/event-words.ts';
import { formatMinute, parseMoment } from '#components/ui/moments.ts';
import { TRIGGERS } from '#lib/lifecycle/words.ts';
import type { ParsedFilters } from '../filter-parser.ts';
import { addressWith } from '../search-params.ts';
import type { AuditFilter } from './query.ts';

const HOUR = 3600;
const RANGES: readonly [name: string, seconds: number][] = [
  ['Last hour', HOUR],
  ['Last 24 hours', 24 * HOUR],
  ['Last 7 days', 7 * 24 * HOUR],
];

type ParsedState = Pick<ParsedFilters<AuditFilter, unknown>, 'filters' | 'complaints'>;

function Complaint({
  name,
  complaints,
}: {
  name: AuditFilter;
  complaints: ParsedFilters<AuditFilter, unknown>['complaints'];
}) {
  const text = complaints[name];
  if (text === undefined) return null;
  return (
    <span className="complaint mt-1 block" id={`audit-${name}-complaint`}>
      {text}
    </span>
  );
}

function described(name: AuditFilter, complaints: ParsedFilters<AuditFilter, unknown>['complaints']) {
  return complaints[name] === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `audit-${name}-complaint` };
}

function Text({
  name,
  title,
  placeholder,
  parsed,
}: {
  name: AuditFilter;
  title: string;
  placeholder: string;
  parsed: ParsedState;
}) {
  const value = parsed.filters[name];
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <input
        className="input"
        name={name}
        key={value}
        defaultValue={value}
        placeholder={placeholder}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        {...described(name, parsed.complaints)}
      />
      <Complaint name={name} complaints={parsed.complaints} />
    </label>
  );
}

function Choice({
  name,
  title,
  options,
  parsed,
}: {
  name: AuditFilter;
  title: string;
  /** Values, each with what to call it where that is something else. */
  options: readonly (string | readonly [value: string, says: string])[];
  parsed: ParsedState;
}) {
  const value = parsed.filters[name];
  const named = options.map((option) => (typeof option === 'string' ? ([option, option] as const) : option));
  const isKnown = value === undefined || named.some(([option]) => option === value);
  const known = isKnown ? named : [[value, value] as const, ...named];
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <select
        className="input"
        name={name}
        key={value}
        defaultValue={value ?? ''}
        {...described(name, parsed.complaints)}
      >
        <option value="">any</option>
        {known.map(([option, says]) => (
          <option key={option} value={option}>
            {says}
          </option>
        ))}
      </select>
      <Complaint name={name} complaints={parsed.complaints} />
    </label>
  );
}

function Moment({ name, title, parsed }: { name: 'since' | 'until'; title: string; parsed: ParsedState }) {
  const value = parsed.filters[name];
  const moment = value === undefined ? null : parseMoment(value, 'first');
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <input
        type="datetime-local"
        className="input"
        name={name}
        key={value}
        defaultValue={moment === null ? undefined : formatMinute(moment)}
        {...described(name, parsed.complaints)}
      />
      <Complaint name={name} complaints={parsed.complaints} />
    </label>
  );
}

/** `actors`: whom to filter by, each with a name. `rendered`: the server's time in epoch seconds. */
export function AuditFilters({
  parsed,
  actors,
  rendered,
}: {
  parsed: ParsedFilters<AuditFilter, unknown>;
  actors: readonly (readonly [actor: string, name: string])[];
  rendered: number;
}) {
  const { since: _since, until: _until, ...others } = parsed.filters;
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-x-4 gap-y-3 lg:grid-cols-4">
        <Text name="tenant" title="Tenant" placeholder="any" parsed={parsed} />
        <Text name="instance" title="Sandbox" placeholder="id" parsed={parsed} />
        <Choice name="type" title="What happened" options={EVENT_TYPES} parsed={parsed} />
        <Choice name="trigger" title="What triggered it" options={TRIGGERS} parsed={parsed} />
        <div className="col-span-2 lg:col-span-1">
          <Choice name="actor" title="Who" options={actors} parsed={parsed} />
        </div>
        {parsed.filters.request_id !== undefined && (
          <Text name="request_id" title="Request or job" placeholder="any" parsed={parsed} />
        )}
        <div className="max-sm:col-span-2">
          <Moment name="since" title="Since (UTC)" parsed={parsed} />
        </div>
        <div className="max-sm:col-span-2">
          <Moment name="until" title="Until (UTC)" parsed={parsed} />
        </div>
        <div className="flex items-center gap-4 lg:beside-fields">
          <button type="submit" className="button">
            Show
          </button>
          {Object.keys(parsed.filters).length > 0 && (
            <Link href="/audit" className="text-small" prefetch={false}>
              Clear
            </Link>
          )}
        </div>
      </div>
      <p className="mt-4 flex flex-wrap gap-x-5 gap-y-1 text-small text-ink-2">
        {RANGES.map(([name, seconds]) => (
          <Link
            key={name}
            href={addressWith('/audit', { ...others, since: formatMinute(rendered - seconds) })}
            prefetch={false}
          >
            {name}
          </Link>
        ))}
      </p>
    </>
  );
}
