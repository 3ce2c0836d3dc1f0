/**
 * The ledger of everything: filters and pages in the URL, exports of what matches, and the proof that nothing was
 * changed.
 */

import Link from 'next/link';
import type { ReactNode } from 'react';
import { callMark } from '#components/calls/call-mark.ts';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { EventsQuery } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames, listedActors } from '../actor-names.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { addressWith, type SearchParams } from '../search-params.ts';
import { EventDetails } from './event-details.tsx';
import { AuditFilters } from './filters.tsx';
import { LedgerProofSections, readSegments } from './ledger-proof.tsx';
import { actorChoices, exportAddress, exportCall, parseAuditQuery } from './query.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Audit' };

const PATH = '/audit';
const PAGE_SIZE = 50;

/** A page of lines, or the refusal in words. */
async function read(caller: Caller, query: EventsQuery) {
  try {
    return await getHost().operations.events(caller, query);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'forbidden')
      return { refusal: problemInWords(problemOf(error, caller)) };
    throw error;
  }
}

function Nothing({ children }: { children: ReactNode }) {
  return <div className="border-t border-ink py-10">{children}</div>;
}

function Exports({ query, refusal }: { query: EventsQuery; refusal: string | null }) {
  if (refusal !== null) return <p className="text-small text-ink-3">Export: {refusal}</p>;
  return (
    <div className="no-print flex flex-wrap items-center gap-x-3 gap-y-2">
      <span className="text-small text-ink-3" id="export-note">
        Everything that matches; the export is itself a line
      </span>
      <a
        href={exportAddress(query, 'csv')}
        {...callMark(exportCall(query, 'csv'))}
        className="button button-quiet"
        download
        aria-describedby="export-note"
      >
        Export CSV
      </a>
      <a
        href={exportAddress(query, 'jsonl')}
        {...callMark(exportCall(query, 'jsonl'))}
        className="button button-quiet"
        download
        aria-describedby="export-note"
      >
        Export JSON lines
      </a>
    </div>
  );
}

export default async function Audit({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = parseAuditQuery(values, PAGE_SIZE);
  const { query, filters } = parsed;
  const place = { path: PATH, filters, cursor: values.cursor };
  const [page, suggestions, segments] = await Promise.all([
    query === null ? undefined : readListPage(place, () => read(caller, query)),
    listedActors(),
    readSegments(caller),
  ]);
  const rendered = renderedAt();
  const filtered = Object.keys(filters).length > 0;
  const lines = page !== undefined && 'items' in page ? page : null;
  const chosen = filters.actor === undefined ? [] : [{ actor: filters.actor, reason: null }];
  const names = await lineNames([...(lines?.items ?? []), ...chosen]);
  const actors = actorChoices(suggestions, lines?.items ?? [], names, filters.actor);
  const later = query?.cursor !== undefined;
  return (
    <>
      <h1 className="headline pt-8 pb-6 sm:pt-12">
        The ledger <span className="quiet">{filtered ? 'as filtered' : 'of everything'}</span>
      </h1>
      <FilterForm action={PATH} className="pb-6">
        <AuditFilters parsed={parsed} actors={actors} rendered={rendered} />
      </FilterForm>
      {query === null && (
        <Nothing>
          <p>No line is shown: a filter above is not valid.</p>
        </Nothing>
      )}
      {page !== undefined && 'refusal' in page && (
        <Nothing>
          <Outcome outcome={{ ok: false, ...page.refusal }} />
        </Nothing>
      )}
      {query !== null && lines !== null && (
        <>
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-t border-ink pt-3 pb-4">
            <p className="text-small text-ink-2">
              {later ? 'Older lines.' : 'Newest first; new lines appear by themselves.'}
            </p>
            <Exports query={query} refusal={whyNot(caller, 'exportEvents')} />
          </div>
          {lines.items.length > 0 ? (
            <LedgerLines
              events={lines.items}
              rendered={rendered}
              names={names}
              more={(event) => <EventDetails event={event} names={names} />}
            />
          ) : (
            <p className="py-8">
              {filtered ? (
                <>
                  No line matches. <Link href={PATH}>Show all of them</Link>, or change the filters above.
                </>
              ) : (
                <>
                  Nothing has happened yet. <Link href="/sandboxes#new">Create a sandbox</Link>, and the first lines are
                  here.
                </>
              )}
            </p>
          )}
          <Pagination {...pageLinks(place, lines.next)} />
        </>
      )}
      <div className="pt-12">
        <LedgerProofSections caller={caller} segments={segments} rendered={rendered} />
      </div>
    </>
  );
}
