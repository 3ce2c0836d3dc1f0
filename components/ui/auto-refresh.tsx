'use client';
/**
 * Refreshes a page at an interval while something on it is under way and the page is visible. It covers for events that
 * the stream could not deliver. Renders nothing.
 */
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { currentReach } from '../live/server-reach.ts';

export function AutoRefresh({ everyMs }: { everyMs: number }) {
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && currentReach().is === 'here') router.refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [router, everyMs]);
  return null;
}
