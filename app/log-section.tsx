/** A log: who may read it, its filters, and its lines, followed unless they are older ones. Reads for itself. */
import Link from 'next/link';
import { FollowedLog } from '#components/logs/followed-log.tsx';
import { LogBox } from '#components/logs/log-box.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { needsReason, whyNot } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { LOG_LEVELS, LOG_SOURCES } from '#lib/logs/log-line.ts';
import { LOG_TIMES, type LogPageView, logViewOf } from './log-query.ts';
import { problemInWords, problemOf } from './problem.ts';
import { addressWith, type SearchParams, singleValues } from './search-params.ts';
import { visitorZone } from './zone.ts';

const NOTE =
  'What calls, runs, terminals, schedules and components printed. Values of secrets are masked. Wakes nothing.';

function Choice({
  name,
  title,
  options,
  value,
}: {
  name: string;
  title: string;
  options: readonly (readonly [value: string, says: string])[];
  value: string | undefined;
}) {
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <select className="input" name={name} key={value} defaultValue={value ?? ''}>
        <option value="">any</option>
        {options.map(([option, says]) => (
          <option key={option} value={option}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}

function Reason({ value }: { value: string | undefined }) {
  return (
    <label className="block min-w-0">
      <span className="field-name">Reason</span>
      <input className="input" name="reason" defaultValue={value} maxLength={1000} required autoComplete="off" />
    </label>
  );
}

/** `kept`: what the address has besides the filters. `reason`: undefined for who needs none. */
function LogFilters({
  path,
  kept,
  view: { filters },
  reason,
  anchor,
}: {
  path: string;
  kept: Readonly<Record<string, string>>;
  view: LogPageView;
  reason: string | undefined;
  anchor: string;
}) {
  return (
    <search>
      <FilterForm action={path} label="Lines that are shown" className="mb-4">
        {Object.entries(kept).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {reason !== undefined && <input type="hidden" name="reason" value={reason} />}
        <div className="grid grid-cols-2 items-end gap-x-4 gap-y-3 lg:grid-cols-[minmax(0,2fr)_repeat(3,minmax(0,1fr))_auto]">
          <label className="block min-w-0 max-lg:col-span-2">
            <span className="field-name">Search</span>
            <input
              className="input"
              type="search"
              name="q"
              key={filters.q}
              defaultValue={filters.q}
              maxLength={500}
              placeholder="text in the lines"
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
            />
          </label>
          <Choice
            name="level"
            title="Level"
            options={LOG_LEVELS.map((level) => [level, level === 'error' ? level : `${level} and above`] as const)}
            value={filters.level}
          />
          <Choice
            name="source"
            title="Printed by"
            options={LOG_SOURCES.map((source) => [source, source === 'log' ? 'the log itself' : source] as const)}
            value={filters.source}
          />
          <Choice name="within" title="Time" options={LOG_TIMES} value={filters.within} />
          <div className="flex items-center gap-4">
            <button type="submit" className="button">
              Show
            </button>
            {Object.keys(filters).length > 0 && (
              <Link
                href={`${addressWith(path, { ...kept, ...(reason === undefined ? {} : { reason }) })}#${anchor}`}
                className="text-small"
                prefetch={false}
              >
                Clear
              </Link>
            )}
          </div>
        </div>
      </FilterForm>
    </search>
  );
}

/**
 * `of`: a sandbox of a tenant, or all of the tenant. `path` and `kept`: the address of the page. `rendered`: the
 * server's time in epoch seconds.
 */
export async function LogSection({
  caller,
  tenant,
  instance,
  path,
  kept,
  search,
  rendered,
}: {
  caller: Caller;
  tenant: string;
  /** Null: all of the tenant's. */
  instance: InstanceId | null;
  path: string;
  kept: Readonly<Record<string, string>>;
  search: SearchParams;
  rendered: number;
}) {
  const operation = instance === null ? 'tenantLogs' : 'instanceLogs';
  const refusal = whyNot(caller, operation, { tenant });
  if (refusal !== null)
    return (
      <PageSection id="log" name="Logs" margin={false}>
        <Outcome outcome={{ ok: false, says: refusal, hint: 'Logs are for operators, admins and support.' }} />
      </PageSection>
    );
  const { reason: given = '', ...values } = singleValues(search);
  const reason = needsReason(caller, operation) ? given : undefined;
  const view = logViewOf({ ...values, ...(reason === undefined ? {} : { reason }) }, rendered);
  if (reason === '')
    return (
      <PageSection id="log" name="Logs" margin={false} note={NOTE}>
        <form action={path} className="flex flex-wrap items-end gap-x-4 gap-y-3">
          {Object.entries(kept).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <Reason value={undefined} />
          <button type="submit" className="button">
            Read it
          </button>
          <p className="text-small text-ink-2">Support says why; the ledger keeps it.</p>
        </form>
      </PageSection>
    );
  const { operations } = getHost();
  const page = await (instance === null
    ? operations.tenantLogs(caller, tenant, view.query)
    : operations.instanceLogs(caller, instance, view.query)
  ).catch((error: unknown) => {
    if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
    return { refusal: problemInWords(problemOf(error, caller)) };
  });
  if ('refusal' in page)
    return (
      <PageSection id="log" name="Logs" margin={false} note={NOTE}>
        <Outcome outcome={{ ok: false, ...page.refusal }} />
      </PageSection>
    );
  const isOlder = view.query.cursor !== undefined;
  const own = { ...kept, ...(reason === undefined ? {} : { reason }) };
  const lines = page.items.toReversed();
  const isFiltered = Object.keys(view.filters).length > 0;
  const none = isFiltered
    ? 'No line fits the filters.'
    : isOlder
      ? 'Nothing is older.'
      : 'Nothing has been printed yet.';
  const box = {
    callHref: addressWith(path, own),
    hasNames: instance === null,
    none,
  };
  const shown = <LogBox lines={lines} zone={await visitorZone()} {...box} />;
  const api = instance === null ? `/api/tenants/${tenant}/logs` : `/api/instances/${instance}/logs`;
  return (
    <PageSection id="log" name="Logs" margin={false} note={NOTE}>
      <LogFilters path={path} kept={kept} view={view} reason={reason} anchor="log" />
      {view.filters.request_id !== undefined && (
        <p className="mb-3 flex flex-wrap gap-x-5 text-small">
          <span>What one call printed.</span>
          <Link href={`/audit?${new URLSearchParams({ request_id: view.filters.request_id })}`} prefetch={false}>
            Its lines in the ledger
          </Link>
          <Link href={`${addressWith(path, own)}#log`} prefetch={false}>
            All lines
          </Link>
        </p>
      )}
      {isOlder ? (
        shown
      ) : (
        <FollowedLog
          key={`${api}?${view.followed}&${view.filters.within ?? ''}`}
          first={lines}
          path={view.followed === '' ? api : `${api}?${view.followed}`}
          {...box}
        >
          {shown}
          <div className="mt-2 min-h-8" />
        </FollowedLog>
      )}
      {page.dropped > 0 && (
        <p className="mt-2 text-small text-ink-2">
          {page.dropped.toLocaleString('en')} {page.dropped === 1 ? 'line' : 'lines'} could not be kept since the start
          of the server.
        </p>
      )}
      <Pagination
        first={isOlder ? `${addressWith(path, { ...own, ...view.filters })}#log` : null}
        next={page.next === null ? null : `${addressWith(path, { ...own, ...view.filters, cursor: page.next })}#log`}
      />
    </PageSection>
  );
}
