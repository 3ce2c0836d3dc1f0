'use client';
/** A moment in the reader's time zone. Without JavaScript, and in the first paint, in UTC. */
import { useEffect, useState } from 'react';
import { exactMoment } from './durations.ts';

/** `Tue 24 Nov 2026, 03:00`, in a zone. */
function momentIn(epoch: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    timeZone,
  }).format(new Date(epoch * 1000));
}

/** `at` in epoch seconds. */
export function LocalTime({ at }: { at: number }) {
  const [isHere, setIsHere] = useState(false);
  useEffect(() => setIsHere(true), []);
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactMoment(at)} className="whitespace-nowrap">
      {isHere ? momentIn(at) : `${momentIn(at, 'UTC')} UTC`}
    </time>
  );
}
