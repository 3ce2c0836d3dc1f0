/** The overview: counts by state, what is due, what needs a person, the last ledger lines. */
import { WakePlot } from '#app/overview/wake-plot.tsx';
import { StateDiagram } from '#components/figures/state-diagram.tsx';
import { Week } from '#components/figures/week.tsx';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { LiveCountWords, LiveDiagram } from '#components/live/counts.tsx';
import { AsOf } from '#components/live/live-data.tsx';
import { LiveLedger } from '#components/live/live-ledger.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { FAULTS, type Fault } from '#lib/lifecycle/words.ts';
import { lineNames } from './actor-names.ts';
import { readAttention } from './attention/read.ts';
import { AttentionRows } from './attention/rows.tsx';
import { ledgerSeq, renderedAt, requireCaller } from './caller.ts';
import { LoadSection } from './load-section.tsx';
import { Faults, StuckOperations } from './overview/attention.tsx';
import { Due } from './overview/due.tsx';
import { FirstUse } from './overview/first-use.tsx';
import { RunningJobs } from './overview/jobs.tsx';
import type { SearchParams } from './search-params.ts';
import { visitorZone } from './zone.ts';

export const dynamic = 'force-dynamic';
// The layout's template reaches pages below it, not the one beside it.
export const metadata = { title: { absolute: 'Overview · Winterdock' } };

const HOUR = 3600;
/** The hour, in spans of five minutes. */
const SPAN_SECONDS = 300;
const DUE_SHOWN = 5;
const FAULTY_SHOWN = 5;
const STUCK_SHOWN = 5;
const JOBS_SHOWN = 3;
const LINES_SHOWN = 15;
const WAKE_DAYS = 30;

/** The counts, and by them the stuck operations and the faulty sandboxes to show. */
async function readTrouble(caller: Caller) {
  const { operations } = getHost();
  const [{ states, faults, warm, stuck }, { open }] = await Promise.all([
    operations.counts(caller),
    readAttention(caller),
  ]);
  const faultCounts = FAULTS.map((fault): [Fault, number] => [fault, faults[fault] ?? 0]).filter(
    ([, count]) => count > 0,
  );
  const [stuckPage, ...faultPages] = await Promise.all([
    stuck === 0 ? null : operations.listInstances(caller, { pending: 'stuck', sort: '-updated', limit: STUCK_SHOWN }),
    ...faultCounts.map(([fault]) => operations.listInstances(caller, { fault, sort: 'updated', limit: FAULTY_SHOWN })),
  ]);
  return {
    states,
    warm,
    stuckCount: stuck,
    stuck: stuckPage?.items ?? [],
    // Faults and stuck operations have their own lists here.
    others: open.filter(({ kind }) => kind !== 'fault' && kind !== 'stuck'),
    faultCounts,
    faulty: faultPages.flatMap((page) => page?.items ?? []).slice(0, FAULTY_SHOWN),
  };
}

export default async function Overview({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const caller = await requireCaller('/');
  const asOf = await ledgerSeq();
  const { operations } = getHost();
  const [{ states, warm, stuckCount, stuck, others, faultCounts, faulty }, spans, first, jobs, ledger, wakes, week] =
    await Promise.all([
      readTrouble(caller),
      operations.dueCounts(caller, { seconds: SPAN_SECONDS, slots: HOUR / SPAN_SECONDS }),
      operations.due(caller, HOUR, DUE_SHOWN),
      operations.listJobs(caller, { state: 'running', limit: JOBS_SHOWN }),
      operations.events(caller, { limit: LINES_SHOWN }),
      mayDo(caller, 'wakeTimes') ? operations.wakeTimes(caller, { days: WAKE_DAYS }) : null,
      mayDo(caller, 'serverUsage') ? operations.serverUsage(caller, {}) : null,
    ]);
  const names = await lineNames(ledger.items);
  const rendered = renderedAt();
  const zone = await visitorZone();
  const empty = Object.values(states).every((count) => count === 0);
  const isWell = faultCounts.length === 0 && others.length === 0;
  const quiet = jobs.items.length === 0 && stuckCount === 0 && isWell;
  // Balances the height of the two columns.
  const short = jobs.items.length === 0 && stuckCount === 0 && faulty.length < 4;
  const attention = (
    <>
      {stuckCount > 0 && (
        <PageSection id="stuck" name="Stuck" note="Operations under way for more than a minute" margin={false}>
          <StuckOperations stuck={stuck} count={stuckCount} caller={caller} rendered={rendered} />
        </PageSection>
      )}
      <PageSection id="faults" name="Faults" note="What needs a person" margin={quiet}>
        {others.length > 0 && (
          <div className="mb-4">
            <AttentionRows rows={others} rendered={rendered} />
          </div>
        )}
        <Faults counts={faultCounts} faulty={faulty} caller={caller} />
      </PageSection>
      {jobs.items.length > 0 && (
        <PageSection id="jobs" name="Jobs" note="Running now" margin={false}>
          <RunningJobs jobs={jobs.items} more={jobs.next !== null} />
        </PageSection>
      )}
    </>
  );
  const wakeTimes = wakes !== null && wakes.length > 0 && (
    <PageSection
      id="wakes"
      name="Wake times"
      note={`The last ${WAKE_DAYS} days, by source. Dot: p50; bar: up to p99`}
      margin={false}
    >
      <WakePlot times={wakes} />
    </PageSection>
  );
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <h1 className="headline pt-8 pb-8 sm:pt-12">
        <LiveCountWords states={states} />
      </h1>
      <div className="pb-12">
        <LiveDiagram states={states} warm={warm} rendered={rendered}>
          <StateDiagram counts={states} warm={warm} rendered={rendered} />
        </LiveDiagram>
      </div>
      {empty ? (
        <FirstUse caller={caller} />
      ) : (
        <div className="grid gap-x-16 lg:grid-cols-2">
          {!quiet && (
            <div className="grid content-start">
              {attention}
              {short && wakeTimes}
            </div>
          )}
          <div className={`grid content-start ${quiet && wakeTimes === false ? 'lg:col-span-2' : ''}`}>
            <PageSection id="due" name="Next hour" note="What the ladder does if nothing else happens" margin={false}>
              <Due spans={spans} first={first} rendered={rendered} zone={zone} />
            </PageSection>
            {!quiet && !short && wakeTimes}
          </div>
          {quiet && wakeTimes !== false && <div className="grid content-start">{wakeTimes}</div>}
        </div>
      )}
      {quiet && !empty && attention}
      {mayDo(caller, 'serverLoad') && !empty && (
        <LoadSection caller={caller} tenant={null} path="/" search={await searchParams} rendered={rendered} />
      )}
      {week !== null && !empty && (
        <PageSection id="week" name="Last seven days" note="By the hour, all sandboxes together.">
          <Week usage={week} linesOf={(since, until) => `/audit?since=${since}&until=${until}`} zone={zone} />
        </PageSection>
      )}
      <PageSection id="ledger" name="Ledger" note="The last lines. Nothing in it is ever changed.">
        <LiveLedger events={ledger.items} limit={LINES_SHOWN} rendered={rendered} names={names}>
          {ledger.items.length === 0 ? (
            <p className="text-ink-2">Nothing has happened yet.</p>
          ) : (
            <LedgerLines events={ledger.items} rendered={rendered} names={names} />
          )}
        </LiveLedger>
      </PageSection>
    </AsOf>
  );
}
