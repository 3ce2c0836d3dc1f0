'use client';
/** A relative time, with the exact one on hover. */
import { agoInWords, exactMoment, lengthInWords } from './durations.ts';
import { useNow } from './use-now.ts';

/** `at` and `rendered` (the server's time at rendering) in epoch seconds. `as` chooses `3 days ago` or `3 days`. */
export function RelativeTime({ at, rendered, as = 'ago' }: { at: number; rendered: number; as?: 'ago' | 'length' }) {
  const seconds = Math.max(0, useNow(rendered) - at);
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactMoment(at)}>
      {as === 'ago' ? agoInWords(seconds) : lengthInWords(seconds)}
    </time>
  );
}
