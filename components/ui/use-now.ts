'use client';
/**
 * One clock for all components of a page: one timer, ticking every second. On the server and before hydration it shows
 * the server's time.
 */
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
 * The present in epoch seconds, once a second. `rendered`: the server's time at rendering. The first paint shows it,
 * and no later value is below it, so that a slow browser clock never runs behind the server.
 */
export function useNow(rendered: number): number {
  return useSyncExternalStore(
    subscribe,
    () => Math.max(rendered, timer === undefined ? rendered : now),
    () => rendered,
  );
}
