/** The filters of the list of sandboxes, as fields of a plain GET form. */
import Link from 'next/link';
import { STATES } from '#lib/lifecycle/states.ts';
import { FAULTS, THERMALS } from '#lib/lifecycle/words.ts';

const SORT_WORDS: readonly [value: string, label: string][] = [
  ['updated', 'Last active first'],
  ['-updated', 'Longest idle first'],
  ['created', 'Newest first'],
  ['-created', 'Oldest first'],
  ['name', 'Name, a to z'],
  ['-name', 'Name, z to a'],
  ['bytes', 'Largest first'],
  ['-bytes', 'Smallest first'],
];

function Complaint({ name, text }: { name: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <span className="complaint mt-1 block" id={`filter-${name}-complaint`}>
      {text}
    </span>
  );
}

function Text({
  name,
  title,
  placeholder,
  values,
  complaints,
}: {
  name: string;
  title: string;
  placeholder: string;
  values: Record<string, string>;
  complaints: Record<string, string>;
}) {
  const complaint = complaints[name];
  return (
    <label className="field">
      <span className="field-name">{title}</span>
      <input
        className="input"
        name={name}
        key={values[name]}
        defaultValue={values[name]}
        placeholder={placeholder}
        autoCapitalize="none"
        spellCheck={false}
        aria-invalid={complaint === undefined ? undefined : true}
        aria-describedby={complaint === undefined ? undefined : `filter-${name}-complaint`}
      />
      <Complaint name={name} text={complaint} />
    </label>
  );
}

function Choice({
  name,
  title,
  any,
  options,
  value,
}: {
  name: string;
  title: string;
  any?: string;
  options: readonly (readonly [value: string, label: string])[];
  value: string | undefined;
}) {
  return (
    <label className="field">
      <span className="field-name">{title}</span>
      <select className="input" name={name} key={value} defaultValue={value ?? ''}>
        {any !== undefined && <option value="">{any}</option>}
        {options.map(([option, label]) => (
          <option key={option} value={option}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

export function SandboxFilters({
  values,
  complaints,
  filtered,
}: {
  values: Record<string, string>;
  complaints: Record<string, string>;
  filtered: boolean;
}) {
  return (
    <div className="grid grid-cols-2 items-start gap-x-4 gap-y-3 sm:grid-cols-3 lg:grid-cols-[1.75fr_0.95fr_1fr_1fr_0.95fr_1fr_1.25fr_auto]">
      <div className="col-span-2 sm:col-span-3 lg:col-span-1">
        <Text name="q" title="Find" placeholder="id, name, tenant or label" values={values} complaints={complaints} />
      </div>
      <Choice
        name="state"
        title="State"
        any="any"
        options={STATES.map((state) => [state, state] as const)}
        value={values.state}
      />
      <Choice
        name="thermal"
        title="Process"
        any="any"
        options={THERMALS.map((thermal) => [thermal, thermal] as const)}
        value={values.thermal}
      />
      <Choice
        name="fault"
        title="Fault"
        any="any or none"
        options={FAULTS.map((fault) => [fault, fault] as const)}
        value={values.fault}
      />
      <Text name="tenant" title="Tenant" placeholder="any" values={values} complaints={complaints} />
      <Text name="label" title="Label" placeholder="key:value" values={values} complaints={complaints} />
      <Choice name="sort" title="Order" options={SORT_WORDS} value={values.sort ?? 'updated'} />
      <div className="beside-fields flex items-center gap-4">
        <button type="submit" className="button">
          Show
        </button>
        {filtered && (
          <Link href="/sandboxes" className="text-small">
            Clear
          </Link>
        )}
      </div>
    </div>
  );
}
