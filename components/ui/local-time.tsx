'use client';
/** A moment in the reader's time zone. */
import { useZone } from './zone.tsx';
import { exactMoment, spokenMoment } from './zones.ts';

/** `at` in epoch seconds. */
export function LocalTime({ at }: { at: number }) {
  const zone = useZone();
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactMoment(at, zone)} className="whitespace-nowrap">
      {spokenMoment(at, zone)}
    </time>
  );
}
