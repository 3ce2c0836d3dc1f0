'use client';
/** A relative time, with the exact one on hover. */
import { agoInWords, lengthInWords } from './durations.ts';
import { useNow } from './use-now.ts';
import { useZone } from './zone.tsx';
import { exactMoment } from './zones.ts';

/** `at` and `rendered` (the server's time at rendering) in epoch seconds. `as` chooses `3 days ago` or `3 days`. */
export function RelativeTime({ at, rendered, as = 'ago' }: { at: number; rendered: number; as?: 'ago' | 'length' }) {
  const seconds = Math.max(0, useNow(rendered) - at);
  const zone = useZone();
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactMoment(at, zone)}>
      {as === 'ago' ? agoInWords(seconds) : lengthInWords(seconds)}
    </time>
  );
}
