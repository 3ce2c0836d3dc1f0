'use client';
/** When the next schedule of a sandbox runs, which wakes one that sleeps. */
import Link from 'next/link';
import { lengthInWords } from '../ui/durations.ts';
import { useNow } from '../ui/use-now.ts';
import { useZone } from '../ui/zone.tsx';
import { exactMoment } from '../ui/zones.ts';

/** `at` and `rendered` (the server's time at rendering) in epoch seconds. `href`: where its schedules are. */
export function NextSchedule({ at, rendered, href }: { at: number; rendered: number; href: string }) {
  const left = at - useNow(rendered);
  const zone = useZone();
  return (
    <p className="text-small text-ink-2">
      <Link href={href} prefetch={false}>
        Next schedule
      </Link>{' '}
      <time dateTime={new Date(at * 1000).toISOString()} title={exactMoment(at, zone)}>
        {left > 0 ? `in ${lengthInWords(left)}` : 'now'}
      </time>
    </p>
  );
}
