'use client';
/**
 * Refreshes a stale page, at the pace of refresh-pace.ts, and only while it is visible and its reader signed in:
 * without a session the page would be replaced by the sign-in.
 */
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState, useTransition } from 'react';
import { RefreshPace } from './refresh-pace.ts';
import type { Urgency } from './refresh-urgency.ts';
import { currentReach, watchReach } from './server-reach.ts';

/** How often the pace is checked while a refresh is due: new lines change it. */
const LOOK_MS = 500;
/** A refresh that has not come back by then is given up. */
const LOST_MS = 30_000;

/** Returns a function to call with the urgency of each new line. `isOut`: the reader is signed out. */
export function useRefresh(isOut: boolean): (urgencies: readonly Urgency[]) => void {
  const router = useRouter();
  const [pace] = useState(() => new RefreshPace());
  const [rendering, startRendering] = useTransition();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const begun = useRef<number | null>(null);
  const look = useRef(() => {});
  const out = useRef(isOut);
  out.current = isOut;

  look.current = () => {
    clearTimeout(timer.current);
    const now = Date.now();
    const wait = pace.wait(now);
    if (wait === null || out.current || document.visibilityState !== 'visible') return;
    // It would only wait with the others: when the server is back one is enough.
    if (currentReach().is !== 'here') return;
    const busy = begun.current !== null && now - begun.current < LOST_MS;
    if (busy || wait > 0) {
      timer.current = setTimeout(() => look.current(), Math.min(Math.max(wait, 1), LOOK_MS));
      return;
    }
    begun.current = now;
    pace.begin(now);
    startRendering(() => router.refresh());
  };

  useEffect(() => {
    if (rendering || begun.current === null) return;
    begun.current = null;
    pace.end(Date.now());
    look.current();
  }, [rendering, pace]);

  useEffect(() => {
    if (!isOut) look.current();
  }, [isOut]);

  useEffect(() => {
    const seen = () => look.current();
    document.addEventListener('visibilitychange', seen);
    const stop = watchReach(seen);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', seen);
      clearTimeout(timer.current);
    };
  }, []);

  return (urgencies) => {
    const now = Date.now();
    for (const urgency of urgencies) pace.noteLine(urgency, now);
    look.current();
  };
}
