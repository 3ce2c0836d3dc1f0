/** All jobs, running and ended, newest first. */
import Link from 'next/link';
import { JobTable } from '#app/jobs/job-table.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { getHost } from '#lib/host/host.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import type { SearchParams } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Jobs' };

const PATH = '/jobs';
const PAGE_SIZE = 50;
const LOOK_MS = 10_000;

export default async function JobsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { cursor } = await listValues(PATH, searchParams);
  const caller = await requireCaller(PATH);
  // What ends after this line reaches the page through the stream.
  await ledgerSeq();
  const place = { path: PATH, filters: {}, cursor };
  const page = await readListPage(place, () => getHost().operations.listJobs(caller, { limit: PAGE_SIZE, cursor }));
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
      <Pagination {...pageLinks(place, page.next)} />
      <div className="pb-12" />
    </>
  );
}
