'use client';
/**
 * A log in a box that begins at its end and stays there as lines come, as long as nobody scrolls up. Without JavaScript
 * it is the newest lines, in the same box.
 */
import { useState, useSyncExternalStore } from 'react';
import type { PrintedLine } from '#lib/contract/schema.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { useZone } from '../ui/zone.tsx';
import { PrintedLines } from './printed-lines.tsx';
import { type FollowState, useFollowedLog } from './use-followed-log.ts';

const STATES: Readonly<Record<FollowState, string>> = {
  following: 'Follows what is printed.',
  paused: 'Paused.',
  lost: 'The connection is lost; it is made again.',
};

/** `path`: of the API, with the filters. `none`: said while there is no line. */
export function FollowedLog({
  first,
  path,
  callHref,
  hasNames,
  none,
}: {
  first: readonly PrintedLine[];
  path: string;
  callHref: string;
  hasNames: boolean;
  none: string;
}) {
  const [isPaused, setIsPaused] = useState(false);
  // The server draws no button that only a script answers.
  const isScripted = useSyncExternalStore(
    () => () => undefined,
    () => true,
    () => false,
  );
  const { lines, missing, state } = useFollowedLog(first, path, isPaused);
  return (
    <>
      <LogBox lines={lines} callHref={callHref} hasNames={hasNames} none={none} />
      <div className="mt-2 flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2 text-small text-ink-2">
        {isScripted && (
          <button type="button" className="button button-quiet" onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? 'Follow' : 'Pause'}
          </button>
        )}
        <span role="status">
          {isScripted && STATES[state]}
          {missing !== null &&
            ` ${missing === 'some' ? 'Some' : missing.toLocaleString('en')} lines are left out here.`}
        </span>
      </div>
    </>
  );
}

/** The box alone: of lines that do not change. Its content is laid out from its end on, so that it begins there. */
export function LogBox({
  lines,
  callHref,
  hasNames,
  none,
}: {
  lines: readonly PrintedLine[];
  callHref: string;
  hasNames: boolean;
  none: string;
}) {
  const zone = useZone();
  return (
    <div
      className="flex max-h-[60dvh] min-h-24 flex-col-reverse overflow-y-auto rounded border border-rule-2 bg-sheet py-2"
      role="log"
      aria-live="off"
      aria-label="Lines of the log"
      {...SCROLLABLE}
    >
      {lines.length === 0 ? (
        <p className="my-auto px-3 text-ink-2">{none}</p>
      ) : (
        <PrintedLines lines={lines} callHref={callHref} hasNames={hasNames} zone={zone} />
      )}
    </div>
  );
}
