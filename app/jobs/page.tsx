/** All jobs, running and ended, newest first. */
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { JobTable } from '#app/jobs/job-table.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { getHost } from '#lib/host/host.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Jobs' };

const PATH = '/jobs';
const PAGE_SIZE = 50;
const LOOK_MS = 10_000;

export default async function JobsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { cursor } = singleValues(await searchParams);
  const caller = await requireCaller(PATH);
  // What ends after this line reaches the page through the stream.
  await ledgerSeq();
  const page = await getHost()
    .operations.listJobs(caller, { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) })
    .catch((error: unknown) => {
      if (isWinterdockError(error) && error.code === 'validation' && cursor !== undefined) return null;
      throw error;
    });
  if (page === null) redirect(PATH);
  const running = page.items.filter(({ state }) => state === 'running').length;
  return (
    <>
      <h1 className="headline pt-8 pb-8 sm:pt-12">
        Jobs <span className="quiet">{running === 0 ? 'none is running' : `${running} running`}</span>
      </h1>
      {running > 0 && <AutoRefresh everyMs={LOOK_MS} />}
      {page.items.length === 0 ? (
        <p className="border-t border-ink py-8">
          No job has run yet. Choose rows in the list of <Link href="/sandboxes">sandboxes</Link>.
        </p>
      ) : (
        <JobTable jobs={page.items} rendered={renderedAt()} />
      )}
      <Pagination
        first={cursor === undefined ? null : PATH}
        next={page.next === null ? null : addressWith(PATH, { cursor: page.next })}
      />
      <div className="pb-12" />
    </>
  );
}
