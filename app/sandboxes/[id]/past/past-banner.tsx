/** Says that what is below is not now: which moment it is of, and the ways to the ones beside it and to now. */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Moment } from '#lib/contract/schema.ts';
import { grainInFull, secondInWords } from './moment-words.ts';
import { exactTime, type PastView, pastAddress } from './past-address.ts';

/** The page of now, with what is open in it. */
function nowAddress(id: string, { volume, path }: PastView): string {
  const search = new URLSearchParams({ ...(volume === null ? {} : { volume }), ...(path === null ? {} : { path }) });
  return `/sandboxes/${id}${search.size === 0 ? '' : `?${search}`}#inside`;
}

/** `open`: the moment, in epoch milliseconds. `asked`: up to when it was asked for, in epoch seconds. */
export function PastBanner({
  id,
  view,
  moments,
  open,
  asked,
  rendered,
  zone,
  children,
}: {
  id: string;
  view: PastView;
  moments: readonly Moment[];
  open: number;
  asked: number | null;
  rendered: number;
  zone: string;
  /** What can be made of it. */
  children: ReactNode;
}) {
  const index = moments.findIndex(({ time_ms }) => time_ms === open);
  const moment = moments[index];
  const before = index === -1 ? undefined : moments[index + 1];
  const near = view.near === null ? null : String(view.near);
  const beside = (name: string, to: Moment | undefined) =>
    to !== undefined && (
      <Link href={pastAddress(id, view, { at: exactTime(to.time_ms), near })} prefetch={false} scroll={false}>
        {name}
      </Link>
    );
  const isEarlier = asked !== null && Math.floor(asked) > Math.floor(open / 1000);
  return (
    <section className="past-banner" aria-label="Which moment this is of">
      <p>
        As it was at <time dateTime={new Date(open).toISOString()}>{secondInWords(open, zone)}</time>,{' '}
        <RelativeTime at={Math.floor(open / 1000)} rendered={rendered} />
        {isEarlier && (
          <span className="text-ink-2">
            {' '}
            · the newest moment up to {secondInWords(Math.floor((asked ?? 0) * 1000), zone)}
          </span>
        )}
      </p>
      {moment !== undefined && <p className="text-small text-ink-2">{grainInFull(moment)}</p>}
      <p className="flex flex-wrap gap-x-5 gap-y-2 text-small">
        {beside('The moment before', before)}
        {before !== undefined && (
          <Link
            href={pastAddress(id, view, { at: exactTime(before.time_ms), to: exactTime(open) })}
            prefetch={false}
            scroll={false}
          >
            What changed to it
          </Link>
        )}
        {index > 0 && beside('The moment after', moments[index - 1])}
        <Link href={pastAddress(id, view, { at: exactTime(open), to: 'now' })} prefetch={false} scroll={false}>
          What changed since
        </Link>
        <Link href={nowAddress(id, view)} prefetch={false} className="font-[560]">
          Back to now
        </Link>
      </p>
      {children}
    </section>
  );
}
