'use client';
/**
 * A log in a box that begins at its end and stays there as lines come, as long as nobody scrolls up. Without JavaScript
 * it is the newest lines, in the same box.
 */
import type { ReactNode } from 'react';
import { useLoaded } from '../live/use-loaded.ts';
import type { FollowedLogProps } from './following-log.tsx';

// Other pages of a sandbox have no log, and all that is imported is loaded with each of them.
const loadFollowing = async () => (await import('./following-log.tsx')).FollowingLog;

/** `children`: what the server rendered, which stands until what follows it is there. */
export function FollowedLog({ children, ...props }: FollowedLogProps & { children: ReactNode }) {
  const Following = useLoaded(true, loadFollowing);
  return Following === null ? children : <Following {...props} />;
}
