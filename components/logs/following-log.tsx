'use client';
/** A log that is followed: its lines as they come, a button that pauses that, and how it fares. */
import { useState } from 'react';
import type { PrintedLine } from '#lib/contract/schema.ts';
import { useZone } from '../ui/zone.tsx';
import { LogBox } from './log-box.tsx';
import { type FollowState, useFollowedLog } from './use-followed-log.ts';

const STATES: Readonly<Record<FollowState, string>> = {
  following: 'Follows what is printed.',
  paused: 'Paused.',
  lost: 'The connection is lost; it is made again.',
};

export interface FollowedLogProps {
  first: readonly PrintedLine[];
  /** Of the API, with the filters. */
  path: string;
  callHref: string;
  hasNames: boolean;
  /** Said while there is no line. */
  none: string;
}

export function FollowingLog({ first, path, ...box }: FollowedLogProps) {
  const zone = useZone();
  const [isPaused, setIsPaused] = useState(false);
  const { lines, missing, state } = useFollowedLog(first, path, isPaused);
  return (
    <>
      <LogBox lines={lines} zone={zone} {...box} />
      <div className="mt-2 flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2 text-small text-ink-2">
        <button type="button" className="button button-quiet" onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? 'Follow' : 'Pause'}
        </button>
        <span role="status">
          {STATES[state]}
          {missing !== null &&
            ` ${missing === 'some' ? 'Some' : missing.toLocaleString('en')} lines are left out here.`}
        </span>
      </div>
    </>
  );
}
