/** The moments next to a time, by day: each a link that opens it. */
import Link from 'next/link';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import { zoneLabel } from '#components/ui/zones.ts';
import type { Moment } from '#lib/contract/schema.ts';
import { clockOf, dayOf, grainInFull, grainInWords } from './moment-words.ts';

const LOOKS: Readonly<Record<Moment['kind'], string>> = { commit: '', filing: 'moment-filed', named: 'moment-named' };

/** The moments of each day, in their order. */
function byDay(moments: readonly Moment[], zone: string): [day: string, moments: Moment[]][] {
  const days: [string, Moment[]][] = [];
  for (const moment of moments) {
    const day = dayOf(moment.time_ms, zone);
    const last = days.at(-1);
    if (last?.[0] === day) last[1].push(moment);
    else days.push([day, [moment]]);
  }
  return days;
}

/** `open`: the moment that is open, in epoch milliseconds. `address`: of a page that opens one. */
export function MomentList({
  moments,
  open,
  zone,
  address,
}: {
  /** The newest first. */
  moments: readonly Moment[];
  open: number | null;
  zone: string;
  address: (moment: Moment) => string;
}) {
  return (
    <nav aria-label="Moments" className="max-h-[15rem] overflow-y-auto" {...SCROLLABLE}>
      {byDay(moments, zone).map(([day, ofDay]) => (
        <div key={day} className="mb-3 last:mb-0">
          <h3 className="mb-1 text-small text-ink-3">
            {day} {zoneLabel((ofDay[0]?.time_ms ?? 0) / 1000, zone)}
          </h3>
          <ol className="flex flex-wrap gap-1.5">
            {ofDay.map((moment) => {
              const grain = grainInWords(moment);
              return (
                <li key={moment.time_ms}>
                  <Link
                    href={address(moment)}
                    prefetch={false}
                    scroll={false}
                    title={`${new Date(moment.time_ms).toISOString()}. ${grainInFull(moment)}`}
                    aria-current={moment.time_ms === open ? 'true' : undefined}
                    className={`moment ${LOOKS[moment.kind]}`}
                  >
                    <time dateTime={new Date(moment.time_ms).toISOString()}>{clockOf(moment.time_ms, zone)}</time>
                    {grain !== '' && <span className="moment-grain">{grain}</span>}
                  </Link>
                </li>
              );
            })}
          </ol>
        </div>
      ))}
    </nav>
  );
}
