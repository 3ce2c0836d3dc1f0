/** The tenants: each with its counts by state, its size and its quotas. */

import Link from 'next/link';
import { redirect } from 'next/navigation';
import { AsOf } from '#components/live/live-data.tsx';
import { LiveTenantStates } from '#components/live/tenant-counts.tsx';
import { exactDuration } from '#components/ui/amounts.ts';
import { sizeInWords } from '#components/ui/durations.ts';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { LinkPending } from '#components/ui/link-pending.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Tenant } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import type { SearchParams } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Tenants' };

const PATH = '/tenants';
const PAGE_SIZE = 50;
const NAME_LENGTH = 63;
/** From this share on, a quota counts as nearly used up. */
const NEAR = 0.9;

const QUOTA_WORDS: readonly [name: keyof Tenant['quotas'], what: string, words: (amount: number) => string][] = [
  ['max_sandboxes', 'sandboxes', (amount) => amount.toLocaleString('en')],
  ['max_active', 'awake', (amount) => amount.toLocaleString('en')],
  ['max_bytes', '', sizeInWords],
  ['max_daily_cpu_s', 'of processor time today', exactDuration],
];

/** The quotas that have a limit, each with its use. */
function Quotas({ quotas }: Pick<Tenant, 'quotas'>) {
  const bound = QUOTA_WORDS.flatMap(([name, what, words]) => {
    const { limit, used } = quotas[name];
    return limit === null ? [] : [{ name, limit, used, says: `${words(used)} of ${words(limit)} ${what}`.trim() }];
  });
  if (bound.length === 0) return <span className="text-ink-3">none set</span>;
  return (
    <ul>
      {bound.map(({ name, limit, used, says }) => (
        <li key={name} className={used >= limit * NEAR ? 'text-fault-ink' : undefined}>
          {says}
          {used > limit
            ? ', more than it may have'
            : used === limit
              ? ', used up'
              : used >= limit * NEAR
                ? ', nearly used up'
                : ''}
        </li>
      ))}
    </ul>
  );
}

function Table({ tenants }: { tenants: readonly Tenant[] }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Tenant</th>
          <th scope="col">By state</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Sandboxes
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            On disk
          </th>
          <th scope="col">Quotas</th>
        </tr>
      </thead>
      <tbody>
        {tenants.map(({ tenant, counts, bytes, quotas }) => (
          <tr key={tenant}>
            <td className="max-md:col-span-full md:w-[18%]">
              <Link href={`${PATH}/${tenant}`} prefetch={false} className="font-[540] [overflow-wrap:anywhere]">
                {tenant}
                <LinkPending />
              </Link>
            </td>
            <td className="max-md:col-span-full">
              <LiveTenantStates tenant={tenant} states={counts} />
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-1 text-small max-md:!text-left">
              {quotas.max_sandboxes.used.toLocaleString('en')}
              <span className="md:sr-only"> {quotas.max_sandboxes.used === 1 ? 'sandbox' : 'sandboxes'}</span>
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
              {sizeInWords(bytes.total)}
            </td>
            <td className="max-md:col-span-full text-small md:whitespace-nowrap">
              <span className="text-ink-3 md:sr-only">Quotas: </span>
              <Quotas quotas={quotas} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export default async function Tenants({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const { tenant, cursor } = values;
  const caller = await requireCaller(PATH);
  if (tenant !== undefined) redirect(`${PATH}/${encodeURIComponent(tenant.toLowerCase())}`);
  const asOf = await ledgerSeq();
  const q = values.q?.slice(0, NAME_LENGTH).toLowerCase();
  const filters: Record<string, string> = q === undefined ? {} : { q };
  const place = { path: PATH, filters, cursor };
  const page = await readListPage(place, () =>
    getHost().operations.listTenants(caller, { limit: PAGE_SIZE, q, cursor }),
  );
  return (
    <AsOf asOf={asOf} rendered={renderedAt()}>
      <div className="flex flex-wrap items-end justify-between gap-x-10 gap-y-5 pt-8 pb-8 sm:pt-12">
        <h1 className="headline">
          Tenants <span className="quiet">and what they have</span>
        </h1>
        <FilterForm action={PATH} className="flex w-full gap-3 sm:max-w-xs">
          <label className="flex-1">
            <span className="sr-only">Find a tenant</span>
            <input
              className="input"
              type="search"
              name="q"
              key={q}
              defaultValue={q}
              placeholder="part of a name"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          </label>
          <button type="submit" className="button">
            Find
          </button>
        </FilterForm>
      </div>
      {page.items.length > 0 ? (
        <Table tenants={page.items} />
      ) : q !== undefined ? (
        <p className="border-t border-ink py-10">
          No tenant has “{q}” in its name. <Link href={PATH}>All tenants</Link>
        </p>
      ) : (
        <p className="border-t border-ink py-10">
          No tenant has anything yet. A tenant begins with its first sandbox:{' '}
          <Link href="/sandboxes#new">create one</Link> and say whose it is.
        </p>
      )}
      <Pagination {...pageLinks(place, page.next)} />
      <div className="pb-12" />
    </AsOf>
  );
}
