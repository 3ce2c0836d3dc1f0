/**
 * The Past tab: the life of a sandbox, the moments of it that can be opened, and what it was at the one that is open.
 * What is read is a file at rest of that moment: it wakes nothing and changes nothing.
 */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { LifeStrip } from '#components/figures/life-strip.tsx';
import { TimeAxis } from '#components/figures/series-bars.tsx';
import { partsOf } from '#components/figures/time-layout.ts';
import { Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { axisSpan } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance, Moment } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import type { SearchParams } from '../../../search-params.ts';
import { visitorZone } from '../../../zone.ts';
import { TimeLengths } from '../time-lengths.tsx';
import type { Span } from '../time-window.ts';
import { VolumeBrowser } from '../volume-browser.tsx';
import { Differences } from './differences.tsx';
import { Meanwhile } from './meanwhile.tsx';
import { MomentList } from './moment-list.tsx';
import { MomentMoves } from './moment-moves.tsx';
import { MomentSlider } from './moment-slider.tsx';
import { grainInWords, secondInWords } from './moment-words.ts';
import { NamedMomentList } from './named-moments.tsx';
import { NoPast } from './no-past.tsx';
import { exactTime, filesPageOf, type PastView, pastAddress, pastViewOf } from './past-address.ts';
import { PastBanner } from './past-banner.tsx';
import { LISTED, lookAtMoment, type NoMoment, readMoments, readNamed } from './past-reading.ts';
import { TimeForms } from './time-form.tsx';

/** Parts of the life: each is a link wide enough for a finger on a narrow screen. */
const PARTS = 12;

/** The life, with the moments that are listed marked in it; a part of it is chosen to be drawn larger. */
async function Life({
  caller,
  instance: { id },
  view,
  life,
  moments,
  open,
  zone,
}: {
  caller: Caller;
  instance: Instance;
  view: PastView;
  life: Span;
  moments: readonly Moment[];
  open: readonly number[];
  zone: string;
}) {
  const { shown } = view.window;
  const { from, to } = shown;
  const drawn = await getHost().operations.instanceLife(caller, id, { from, to, columns: 240 });
  const at = view.at?.text ?? null;
  const spans = partsOf(shown, PARTS).map((part) => ({
    href: pastAddress(id, { ...view, window: { shown: part, isWhole: false, chosen: null } }, { at }),
    label: axisSpan(part.from, part.to, zone, to - from),
    isChosen: false,
  }));
  return (
    <>
      <TimeLengths
        window={view.window}
        life={life}
        address={(window) => pastAddress(id, { ...view, window }, { at })}
      />
      <LifeStrip life={drawn} spans={spans} ticks={moments.map(({ time_ms }) => time_ms / 1000)} marks={open} />
      <TimeAxis from={from} to={to} zone={zone} />
    </>
  );
}

/** Why there is nothing, with a way to what there is. */
function Gone({ id, view, gone, zone }: { id: string; view: PastView; gone: NoMoment; zone: string }) {
  const { refused, oldestMs } = gone;
  return (
    <div className="grid gap-2">
      <Outcome outcome={refused} />
      {oldestMs !== null && (
        <p>
          <Link
            href={pastAddress(id, { ...view, window: { ...view.window, isWhole: true } }, { at: exactTime(oldestMs) })}
            prefetch={false}
            scroll={false}
          >
            The oldest moment, {secondInWords(oldestMs, zone)}
          </Link>
        </p>
      )}
    </div>
  );
}

/** The moments that are listed: a slider through them, links to them, and the way to others. */
function Moments({
  id,
  view,
  moments,
  open,
  isFiledOnly,
  zone,
}: {
  id: string;
  view: PastView;
  moments: readonly Moment[];
  open: number | null;
  isFiledOnly: boolean;
  zone: string;
}) {
  const [newest, oldest] = [moments[0], moments.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  // The list stays as it is while one steps through it.
  const near = view.near === null ? exactTime(newest.time_ms) : String(view.near);
  const address = ({ time_ms }: Moment) => pastAddress(id, view, { at: exactTime(time_ms), near });
  const list = (name: string, { time_ms }: Moment) => (
    <Link
      href={pastAddress(id, view, { at: view.at?.text ?? null, near: exactTime(time_ms) })}
      prefetch={false}
      scroll={false}
    >
      {name}
    </Link>
  );
  const fromOldest = moments.toReversed();
  // Around another time there may be more of them, or closer ones.
  const hasMore = moments.length >= LISTED || moments.some(({ grain_s }) => grain_s > 1);
  return (
    <div className="grid gap-3">
      {moments.length > 1 && (
        <MomentSlider
          open={fromOldest.findIndex(({ time_ms }) => time_ms === open)}
          moments={fromOldest.map((moment) => ({
            href: address(moment),
            says: `${secondInWords(moment.time_ms, zone)} ${grainInWords(moment)}`.trim(),
          }))}
        />
      )}
      <MomentList moments={moments} open={open} zone={zone} address={address} />
      <p className="flex flex-wrap gap-x-5 gap-y-2 text-small">
        <span className="text-ink-3">
          {moments.length === 1 ? 'One moment.' : `${moments.length} moments.`}
          {isFiledOnly && ' Only what comes to rest is shipped of it.'}
        </span>
        {hasMore && list('Those around the oldest of them', oldest)}
        {hasMore && view.near !== null && list('Those around the newest of them', newest)}
        {hasMore && view.near !== null && (
          <Link
            href={pastAddress(id, { ...view, window: { ...view.window, isWhole: true } }, { at: null })}
            prefetch={false}
            scroll={false}
          >
            The newest there are
          </Link>
        )}
      </p>
    </div>
  );
}

export async function PastTab({
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
  const view = pastViewOf(search, life);
  const hasReplica = getHost().config.store.replica !== null;
  const section = (children: ReactNode) => (
    <PageSection
      id="past"
      name="Past"
      note={`As it was at any moment that ${hasReplica ? 'its replica keeps' : 'has a name'}. Looking wakes nothing and changes nothing.`}
      margin={false}
    >
      {children}
    </PageSection>
  );
  const refusal = whyNot(caller, 'moments', { tenant: instance.tenant });
  if (refusal !== null) {
    return section(<Outcome outcome={{ ok: false, says: refusal, hint: 'Who sees what is in it sees its past.' }} />);
  }
  const named = await readNamed(caller, id);
  // Without a replica it has its named moments and no others.
  if (!hasReplica && named.length === 0) {
    return section(<NoPast caller={caller} instance={instance} />);
  }
  const given = view.at?.time ?? null;
  const zone = await visitorZone();
  const later = view.to === null || view.to === 'now' ? null : view.to;
  const [listed, opened, other] = await Promise.all([
    readMoments(caller, id, view.near),
    given === null ? null : lookAtMoment(caller, id, given),
    given === null || later === null || later.time === null ? null : lookAtMoment(caller, id, later.time),
  ]);
  const moments = 'moments' in listed ? listed.moments : [];
  if (given === null && view.near === null && 'moments' in listed && moments.length === 0) {
    return section(<NoPast caller={caller} instance={instance} />);
  }
  const open = opened !== null && 'timeMs' in opened ? opened.timeMs : null;
  const laterMs = other !== null && 'timeMs' in other ? other.timeMs : null;
  const isComparison = open !== null && (view.to === 'now' || laterMs !== null);
  const unread = [view.at, later].find((one) => one !== null && one.time === null) ?? null;
  const gone = [opened, other].find((one) => one !== null && 'refused' in one);
  return (
    <>
      {section(
        <div className="grid gap-5">
          <div>
            <Life
              caller={caller}
              instance={instance}
              view={view}
              life={life}
              moments={moments}
              zone={zone}
              open={[...new Set([open, laterMs])].filter((one) => one !== null).map((one) => one / 1000)}
            />
          </div>
          {'moments' in listed ? (
            <Moments
              id={id}
              view={view}
              moments={moments}
              open={open}
              isFiledOnly={instance.replicate === 'filed'}
              zone={zone}
            />
          ) : (
            gone === undefined && <Gone id={id} view={view} gone={listed} zone={zone} />
          )}
          <NamedMomentList caller={caller} instance={instance} view={view} named={named} zone={zone} />
          <TimeForms id={id} view={view} open={open} laterMs={laterMs} nowMs={rendered * 1000} zone={zone} />
          {unread !== null && (
            <Outcome
              outcome={{
                ok: false,
                says: `“${unread.text}” is no time.`,
                hint: 'Such as 2026-11-21T18:00:00, in UTC.',
              }}
            />
          )}
          {gone !== undefined && gone !== null && 'refused' in gone && (
            <Gone id={id} view={view} gone={gone} zone={zone} />
          )}
        </div>,
      )}
      {isComparison && open !== null && (
        <Compared
          caller={caller}
          instance={instance}
          view={view}
          rendered={rendered}
          first={open}
          second={laterMs}
          zone={zone}
        />
      )}
      {open !== null && !isComparison && (
        <>
          <PastBanner id={id} view={view} moments={moments} open={open} asked={given} rendered={rendered} zone={zone}>
            <MomentMoves caller={caller} instance={instance} open={open} zone={zone} />
          </PastBanner>
          <VolumeBrowser
            instance={instance}
            search={search}
            past={filesPageOf(id, view, open, view.near === given ? null : view.near)}
          />
        </>
      )}
    </>
  );
}

/** Two moments, in whichever order they were given; `second` is null for now. */
function Compared({
  first,
  second,
  rendered,
  ...shown
}: {
  caller: Caller;
  instance: Instance;
  view: PastView;
  rendered: number;
  first: number;
  second: number | null;
  zone: string;
}) {
  const times =
    second !== null && second < first ? { thenMs: second, laterMs: first } : { thenMs: first, laterMs: second };
  return (
    <>
      <Differences {...shown} times={times} />
      <Meanwhile caller={shown.caller} instance={shown.instance} times={times} rendered={rendered} />
    </>
  );
}
