/** The Time tab: the life of a sandbox as bands, what it took meanwhile, and the ledger lines of a chosen part. */
import Link from 'next/link';
import { LifeStrip } from '#components/figures/life-strip.tsx';
import type { LifeBand } from '#components/figures/load-chart.tsx';
import { LoadCharts } from '#components/figures/load-charts.tsx';
import { TimeAxis } from '#components/figures/series-bars.tsx';
import { bandsOf, partsOf } from '#components/figures/time-layout.ts';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { lengthInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { axisMoment, axisSpan } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { Instance, InstanceLife, InstanceLoad } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../actor-names.ts';
import type { SearchParams } from '../../search-params.ts';
import { visitorZone } from '../../zone.ts';
import { TimeLengths } from './time-lengths.tsx';
import { type Span, timeAddress, timeWindowOf } from './time-window.ts';

/** Parts of the shown time: each is a link wide enough for a finger on a narrow screen. */
const PARTS = 12;
const LINES_SHOWN = 30;

const middleOf = ({ from, to }: Span) => (from + to) / 2;

/** The bands of a life, in its time. */
function lifeBands(life: InstanceLife): LifeBand[] {
  const timeAt = (x: number) => life.from + (x / 1000) * (life.to - life.from);
  return bandsOf(life).map(({ state, x, width, y, height }) => {
    return { state, from: timeAt(x), to: timeAt(x + width), top: y, height };
  });
}

/** What the charts are made of, and what of it is lost when. */
function madeOfInWords({ made_of, samples_since }: InstanceLoad, shown: Span, zone: string): string {
  if (made_of === 'hours')
    return 'By the hour: what is finer is kept for a day. Nothing is drawn where it did nothing.';
  const rest = 'Nothing is drawn where it was not awake or nothing was measured.';
  if (made_of === 'minutes') return `By the minute, kept for a day on this server. ${rest}`;
  const since = samples_since > shown.from ? ` since ${axisMoment(samples_since, zone)}` : '';
  return `Samples${since}: this server has those of the last hour in memory, and loses them when it is restarted. ${rest}`;
}

export async function TimeTab({
  caller,
  instance,
  search,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
  rendered: number;
}) {
  const { id } = instance;
  const life: Span = { from: Math.min(instance.created, rendered), to: rendered + 1 };
  const window = timeWindowOf(search, life);
  const { shown, chosen } = window;
  const lines = chosen ?? shown;
  const length = shown.to - shown.from;
  const zone = await visitorZone();
  const { operations } = getHost();
  const [drawn, load, page] = await Promise.all([
    operations.instanceLife(caller, id, { from: shown.from, to: shown.to, columns: 240 }),
    operations.instanceLoad(caller, id, { from: shown.from, to: shown.to - 1 }),
    operations.events(caller, { instance: id, since: lines.from, until: lines.to - 1, limit: LINES_SHOWN }),
  ]);
  const spans = partsOf(shown, PARTS).map((part) => ({
    href: timeAddress(id, { ...window, chosen: part }),
    label: axisSpan(part.from, part.to, zone, length),
    // The parts of a whole life grow as it does, so the chosen one is where its middle is.
    isChosen: chosen !== null && chosen.from < middleOf(part) && chosen.to > middleOf(part),
  }));
  const audit = new URLSearchParams({ instance: id, since: String(lines.from), until: String(lines.to - 1) });
  return (
    <>
      <PageSection
        id="life"
        name="Life"
        note="Where it was filed when. Choose a part to see its lines below."
        margin={false}
      >
        <TimeLengths window={window} life={life} address={(to) => timeAddress(id, to)} />
        <LifeStrip life={drawn} spans={spans} />
        <TimeAxis from={shown.from} to={shown.to} zone={zone} />
      </PageSection>
      <PageSection id="usage" name="What it took" margin={false}>
        {load.points.length === 0 ? (
          <p className="text-ink-2">It took nothing that was measured meanwhile.</p>
        ) : (
          <LoadCharts
            load={load}
            shown={shown}
            bands={lifeBands(drawn)}
            path={`/api/instances/${id}/load`}
            exported={{ name: 'exportInstanceLoad', path: { id } }}
            isLive={instance.state === 'active' && shown.to >= life.to}
            isGrowing={window.isWhole}
            larger={`/sandboxes/${id}?tab=time&begin=BEGIN&end=END#usage`}
          />
        )}
        <p className="mt-3 text-small text-ink-2">{madeOfInWords(load, shown, zone)}</p>
      </PageSection>
      <PageSection
        id="lines"
        name="Ledger"
        note={axisSpan(lines.from, lines.to, zone, lines.to - lines.from)}
        margin={false}
      >
        {chosen !== null && (
          <p className="mb-3 flex flex-wrap gap-x-5 text-small">
            <span>A part of {lengthInWords(chosen.to - chosen.from)}.</span>
            <Link
              href={timeAddress(id, { shown: chosen, isWhole: false, chosen: null })}
              prefetch={false}
              scroll={false}
            >
              Show it larger
            </Link>
            <Link href={timeAddress(id, { ...window, chosen: null })} prefetch={false} scroll={false}>
              Choose nothing
            </Link>
          </p>
        )}
        {page.items.length === 0 ? (
          <p className="text-ink-2">Nothing happened meanwhile.</p>
        ) : (
          <LedgerLines
            events={page.items}
            rendered={rendered}
            showInstance={false}
            names={await lineNames(page.items)}
          />
        )}
        {page.next !== null && (
          <p className="pt-2 text-small">
            <Link href={`/audit?${audit}`} prefetch={false}>
              All of them
            </Link>
          </p>
        )}
      </PageSection>
    </>
  );
}
