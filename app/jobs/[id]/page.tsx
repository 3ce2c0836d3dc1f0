/**
 * One job: its progress, the button that cancels it, and the outcome for each sandbox. The job runs on the server:
 * closing the page does not end it.
 */

import Link from 'next/link';
import { notFound, redirect } from 'next/navigation';
import { ActorName } from '#app/actor-name.tsx';
import { CancelJob } from '#app/jobs/[id]/cancel-job.tsx';
import { JobResults } from '#app/jobs/[id]/job-results.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { filterInWords, JOB_WORDS } from '#components/jobs/job-words.ts';
import { LiveJobBar, LiveJobHeadline, LiveJobStatus, LiveJobTabs, WhileRunning } from '#components/live/job.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { lengthInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { mayDo } from '#lib/contract/access.ts';
import { type Job, type JobResultsQuery, jobResultsQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../../caller.ts';
import { addressWith, type SearchParams, singleValues } from '../../search-params.ts';
import { visitorZone } from '../../zone.ts';
import { cancelJob } from './actions.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Job' };

const PAGE_SIZE = 100;
const LOOK_MS = 10_000;

async function readJob(caller: Caller, id: string): Promise<Job> {
  try {
    return await getHost().operations.getJob(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) notFound();
    throw error;
  }
}

/** A page of results; null when the page no longer exists, or the job does not. */
async function readResults(caller: Caller, id: string, query: JobResultsQuery) {
  try {
    return await getHost().operations.jobResults(caller, id, query);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
}

async function About({ job, rendered }: { job: Job; rendered: number }) {
  return (
    <FactList>
      <Fact name="Chosen">
        {job.filter === null ? (
          'by hand, row by row'
        ) : (
          <Link
            href={addressWith(
              '/sandboxes',
              Object.fromEntries(Object.entries(job.filter).map(([k, v]) => [k, `${v}`])),
            )}
            prefetch={false}
          >
            {filterInWords(job.filter, await visitorZone())}
          </Link>
        )}
      </Fact>
      <Fact name="Started">
        <RelativeTime at={job.created} rendered={rendered} /> by <ActorName actor={job.actor} within />
      </Fact>
      <Fact name={job.state === 'running' ? 'Running' : 'Took'}>
        {job.finished === null ? (
          <RelativeTime at={job.created} rendered={rendered} as="length" />
        ) : (
          lengthInWords(job.finished - job.created)
        )}
      </Fact>
      <Fact name="Reason">{job.reason ?? 'none was given'}</Fact>
      {job.include_held && <Fact name="Kept hot, held, attached">included</Fact>}
      {job.labels !== null && (
        <Fact name="Labels" wide>
          {Object.entries(job.labels)
            .map(([key, value]) => (value === null ? `${key} goes` : `${key}: ${value}`))
            .join(', ')}
        </Fact>
      )}
    </FactList>
  );
}

/** Why a forget job cannot be cancelled, with a link to what still holds the tenant. */
function ForgetNote({ job }: { job: Job }) {
  const tenant = job.filter?.tenant;
  return (
    <p className="max-w-2xl text-ink-2">
      {job.state === 'running' && 'Nothing cancels this, and nothing is made for the tenant meanwhile. '}
      {tenant !== undefined && (
        <Link href={`/tenants/${tenant}#forget`} prefetch={false}>
          What still holds the tenant
        </Link>
      )}
    </p>
  );
}

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function JobPage({ params, searchParams }: Props) {
  const { id } = await params;
  const path = `/jobs/${encodeURIComponent(id)}`;
  const caller = await requireCaller(path);
  // What ends after this line reaches the page through the stream.
  await ledgerSeq();
  const values = singleValues(await searchParams);
  const parsed = jobResultsQuerySchema.safeParse({ limit: PAGE_SIZE, outcome: values.outcome, cursor: values.cursor });
  if (!parsed.success) redirect(path);
  const { outcome } = parsed.data;
  const [job, page] = await Promise.all([readJob(caller, id), readResults(caller, id, parsed.data)]);
  if (page === null) redirect(path);
  const which: Record<string, string> = outcome === undefined ? {} : { outcome };
  const rendered = renderedAt();
  const tabs = [
    ['All', undefined],
    ['Failed', 'failed'],
    ['Passed over', 'skipped'],
    [JOB_WORDS[job.verb].done, 'done'],
  ] as const;
  return (
    <>
      <div className="pt-6 pb-6 sm:pt-8">
        <Breadcrumbs
          steps={[
            { name: 'Sandboxes', href: '/sandboxes' },
            { name: 'Jobs', href: '/jobs' },
          ]}
        />
        <h1 className="headline">
          <LiveJobHeadline job={job} />{' '}
          <span className="quiet">
            <LiveJobStatus job={job} />
          </span>
        </h1>
      </div>
      {job.state === 'running' && <AutoRefresh everyMs={LOOK_MS} />}
      <div className="grid gap-6 border-t border-ink pt-5 pb-10">
        <LiveJobBar job={job} label="How far the job is" />
        {job.verb === 'forget' ? (
          <ForgetNote job={job} />
        ) : (
          mayDo(caller, 'cancelJob') && (
            <WhileRunning job={job}>
              <WithCall name="cancelJob" path={{ id }}>
                <CancelJob action={cancelJob.bind(null, id)} />
              </WithCall>
            </WhileRunning>
          )
        )}
        <About job={job} rendered={rendered} />
      </div>
      <LiveJobTabs
        job={job}
        tabs={tabs.map(([name, key]) => ({
          name,
          counts: key,
          href: key === undefined ? path : addressWith(path, { outcome: key }),
          current: outcome === key,
        }))}
      />
      <div className="pt-5 pb-12">
        {page.items.length === 0 ? (
          <p className="text-ink-2">
            {job.state === 'running' ? 'None yet.' : 'None.'}{' '}
            {job.state === 'running' && 'It continues without this page, and after a restart of the server.'}
          </p>
        ) : (
          <JobResults job={job} results={page.items} />
        )}
        <Pagination
          first={values.cursor === undefined ? null : addressWith(path, which)}
          next={page.next === null ? null : addressWith(path, { ...which, cursor: page.next })}
        />
      </div>
    </>
  );
}
