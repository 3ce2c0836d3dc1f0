/** The filters of the list of sandboxes as fields of a plain GET form. On a narrow page they are folded. */
import Link from 'next/link';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { FAULTS, THERMALS } from '#lib/lifecycle/words.ts';
import { idleOverInWords } from '../../components/jobs/filter-words.ts';
import { FilterField } from '../filter-fields.tsx';
import { ExtraFilters } from './extra-filters.tsx';
import { narrowing } from './list-address.ts';
import { LIST_PATH } from './list-path.ts';

const SORT_WORDS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Last active first'],
  ['-updated', 'Longest idle first'],
  ['created', 'Newest first'],
  ['-created', 'Oldest first'],
  ['name', 'Name, a to z'],
  ['-name', 'Name, z to a'],
  ['bytes', 'Largest first'],
  ['-bytes', 'Smallest first'],
];

/** Idle times to choose from, in seconds. Any other one is typed. */
const IDLE_CHOICES = ['300', '900', '3600', '21600', '86400', '604800', '2592000'];

/** Parameters with a field of their own here; the form passes the others on. */
const FIELDS: readonly string[] = ['state', 'idle_over', 'thermal', 'fault', 'tenant', 'label', 'sort'];

type Values = Readonly<Record<string, string>>;

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
  /** Empty for the first option. */
  value: string;
}) {
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <select className="input" name={name} defaultValue={value}>
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

function same(words: readonly string[]): (readonly [string, string])[] {
  return words.map((word) => [word, word]);
}

/** `hosts`: the names to choose from; none where there is nothing to choose. */
export function SandboxFilters({
  filters,
  complaints,
  hosts,
}: {
  filters: Values;
  complaints: Partial<Values>;
  hosts: readonly string[];
}) {
  const { host = '' } = filters;
  const isChosenHere = hosts.length > 0;
  const hostChoices = host === '' || hosts.includes(host) ? hosts : [...hosts, host];
  const idle = filters.idle_over;
  const idleChoices = idle === undefined || IDLE_CHOICES.includes(idle) ? IDLE_CHOICES : [...IDLE_CHOICES, idle];
  const fields = isChosenHere ? [...FIELDS, 'host'] : FIELDS;
  const others = Object.entries(filters).filter(([name]) => !fields.includes(name));
  const chosen = Object.keys(narrowing(filters)).length;
  return (
    <details className="mt-2 md:[&::details-content]:[content-visibility:visible]">
      <summary className="inline-flex cursor-pointer items-center gap-2 py-1 text-small md:hidden">
        <span aria-hidden="true">+</span> Filters and order{chosen === 0 ? '' : ` (${chosen})`}
      </summary>
      <FilterForm action={LIST_PATH} label="Filters" live={filters} className="max-md:pt-2">
        {others.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <div
          className={`grid grid-cols-2 items-start gap-x-4 gap-y-3 sm:grid-cols-4 ${isChosenHere ? 'xl:grid-cols-[0.9fr_1.2fr_0.8fr_0.9fr_0.9fr_1fr_1fr_1.2fr_auto]' : 'xl:grid-cols-[0.9fr_1.3fr_0.8fr_0.95fr_1fr_1fr_1.25fr_auto]'}`}
        >
          <Choice name="state" title="State" any="any" options={same(STATES)} value={filters.state ?? ''} />
          <Choice
            name="idle_over"
            title="Idle"
            any="any time"
            options={idleChoices.map((seconds) => [seconds, idleOverInWords(seconds).replace(/^idle for /, '')])}
            value={idle ?? ''}
          />
          <Choice name="thermal" title="Process" any="any" options={same(THERMALS)} value={filters.thermal ?? ''} />
          <Choice name="fault" title="Fault" any="any or none" options={same(FAULTS)} value={filters.fault ?? ''} />
          {isChosenHere && (
            <Choice name="host" title="Host" any="any or none" options={same(hostChoices)} value={host} />
          )}
          <FilterField
            name="tenant"
            title="Tenant"
            placeholder="any"
            value={filters.tenant}
            complaint={complaints.tenant}
          />
          <FilterField
            name="label"
            title="Label"
            placeholder="key:value"
            value={filters.label}
            complaint={complaints.label}
          />
          <Choice
            name="sort"
            title="Order"
            options={SORT_WORDS}
            value={filters.sort === 'updated' ? '' : (filters.sort ?? '')}
          />
          <div className="beside-fields flex items-center gap-4">
            <button type="submit" className="button">
              Show
            </button>
            {chosen > 0 && (
              <Link href={LIST_PATH} className="text-small">
                Clear
              </Link>
            )}
          </div>
        </div>
      </FilterForm>
      <ExtraFilters values={filters} complaints={complaints} fields={fields} />
    </details>
  );
}
