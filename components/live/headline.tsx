'use client';
import { type Headlined, standing, standingDetail } from '../sandbox/state-words.ts';
/** Where a sandbox is and since when, in words that keep up with the clock. */
import { exactMoment } from '../ui/durations.ts';
import { useNow } from '../ui/ticking.ts';

/** The second half of the headline, as a time element with the exact moment on hover. `rendered` in epoch seconds. */
export function StandingDetail({ instance, rendered }: { instance: Headlined; rendered: number }) {
  const now = useNow(rendered);
  return (
    <time dateTime={new Date(instance.state_since * 1000).toISOString()} title={exactMoment(instance.state_since)}>
      {standingDetail(instance, now)}
    </time>
  );
}

/** The headline on one line, for rows. */
export function Headline({ instance, rendered }: { instance: Headlined; rendered: number }) {
  return (
    <>
      {standing(instance)} <span className="text-ink-3">·</span>{' '}
      <span className="text-ink-2">
        <StandingDetail instance={instance} rendered={rendered} />
      </span>
    </>
  );
}
