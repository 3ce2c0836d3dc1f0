'use client';
import { type HeadlineFields, headlineDetail, headlineWord } from '../sandbox/state-words.ts';
/** Where a sandbox is and since when, in words that follow the clock. */
import { useNow } from '../ui/use-now.ts';
import { useZone } from '../ui/zone.tsx';
import { exactMoment } from '../ui/zones.ts';

/** The second half of the headline, as a time element with the exact moment on hover. `rendered` in epoch seconds. */
export function HeadlineDetail({ instance, rendered }: { instance: HeadlineFields; rendered: number }) {
  const now = useNow(rendered);
  const zone = useZone();
  const since = instance.unreachable?.last_seen ?? instance.warm_since ?? instance.state_since;
  return (
    <time dateTime={new Date(since * 1000).toISOString()} title={exactMoment(since, zone)}>
      {headlineDetail(instance, now)}
    </time>
  );
}

/** The headline on one line, for rows. */
export function Headline({ instance, rendered }: { instance: HeadlineFields; rendered: number }) {
  return (
    <>
      {headlineWord(instance)} <span className="text-ink-3">·</span>{' '}
      <span className={instance.unreachable === null ? 'text-ink-2' : 'text-fault-ink'}>
        <HeadlineDetail instance={instance} rendered={rendered} />
      </span>
    </>
  );
}
