/** The Time tab: the life of a sandbox as bands, what it took meanwhile, and the ledger lines of a chosen part. */
import Link from 'next/link';
import { LifeStrip } from '#components/figures/life-strip.tsx';
import { SeriesBars, TimeAxis } from '#components/figures/series-bars.tsx';
import { partsOf } from '#components/figures/time-layout.ts';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { lengthInWords, sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { axisSpan } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { Instance, InstanceUsage } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../actor-names.ts';
import type { SearchParams } from '../../search-params.ts';
import { visitorZone } from '../../zone.ts';
import { TimeLengths } from './time-lengths.tsx';
import { type Span, timeAddress, timeWindowOf } from './time-window.ts';

/** Parts of the shown time: each is a link wide enough for a finger on a narrow screen. */
const PARTS = 12;
const LINES_SHOWN = 30;
/** Bars of a series at most. */
const BARS = 200;
const HOUR = 3600;
const figures = (count: number) => count.toLocaleString('en', { maximumFractionDigits: 2 });

const middleOf = ({ from, to }: Span) => (from + to) / 2;

function Usage({ usage, shown, zone }: { usage: InstanceUsage; shown: Span; zone: string }) {
  const { points, total } = usage;
  if (points.length === 0) return <p className="text-ink-2">It took nothing that was measured meanwhile.</p>;
  const axis = { from: usage.from, to: usage.to, step: usage.step };
  const length = shown.to - shown.from;
  const bars = (value: (point: InstanceUsage['points'][number]) => number) =>
    points.map((point) => ({ time: point.time, value: value(point) }));
  const each = usage.step === HOUR ? 'an hour' : `in ${lengthInWords(usage.step)}`;
  return (
    <>
      <div className="grid gap-x-10 gap-y-5 md:grid-cols-2">
        <SeriesBars
          name="Processor"
          says={`${figures(total.cpu_s)} s`}
          bars={bars(({ cpu_s }) => cpu_s)}
          axis={axis}
          mostInWords={(most) => `${figures(most)} s ${each}`}
        />
        <SeriesBars
          name="Calls and writes"
          says={figures(total.calls)}
          bars={bars(({ calls }) => calls)}
          axis={axis}
          mostInWords={(most) => `${figures(most)} ${each}`}
        />
        <SeriesBars
          name="Memory"
          says="the most of its process"
          bars={bars(({ memory_bytes }) => memory_bytes)}
          axis={axis}
          mostInWords={sizeInWords}
        />
        <SeriesBars
          name="Disk"
          says={`last ${sizeInWords(points.at(-1)?.disk_bytes ?? 0)}`}
          bars={bars(({ disk_bytes }) => disk_bytes ?? 0)}
          axis={axis}
          mostInWords={sizeInWords}
        />
      </div>
      <p className="mt-3 text-small text-ink-2">
        Whole hours around {axisSpan(shown.from, shown.to, zone, length)}; nothing is drawn where it did nothing.
      </p>
    </>
  );
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
  const step = Math.max(1, Math.ceil((shown.to - shown.from) / HOUR / BARS)) * HOUR;
  const [drawn, usage, page] = await Promise.all([
    operations.instanceLife(caller, id, { from: shown.from, to: shown.to, columns: 240 }),
    operations.instanceUsage(caller, id, { from: shown.from, to: shown.to - 1, step }),
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
        <Usage usage={usage} shown={shown} zone={zone} />
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
