'use client';
/** One second hand for the whole page. Before hydration and on the server it stands at the server's time. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Math.floor(Date.now() / 1000);
    timer = setInterval(() => {
      now = Math.floor(Date.now() / 1000);
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/**
 * The present in epoch seconds, moving once a second. `rendered` is the server's time when it rendered: what the first
 * paint shows, and the least that is ever returned, so that a browser's slow clock never runs behind the server's.
 */
export function useNow(rendered: number): number {
  return useSyncExternalStore(
    subscribe,
    () => Math.max(rendered, timer === undefined ? rendered : now),
    () => rendered,
  );
}
