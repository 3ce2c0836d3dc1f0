'use client';
/** For how long something runs, since this was shown. A screen reader is not told each second. */
import { useEffect, useState } from 'react';

/** Whole seconds below a minute, then minutes and seconds. */
function inWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/** Counts from its first paint, by a clock that no change of the machine's time moves. */
export function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - began) / 1000)), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <span aria-hidden className="tabular-nums">
      {inWords(seconds)}
    </span>
  );
}
