'use client';
/** The live status of a sandbox: in a row and in its page's headline. */
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import type { Instance } from '#lib/contract/schema.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';
import { StateChip } from '../sandbox/state-chip.tsx';
import { StateMark } from '../sandbox/state-mark.tsx';
import { headlineWord } from '../sandbox/state-words.ts';
import { useZone } from '../ui/zone.tsx';
import { exactMoment, timeOfDay } from '../ui/zones.ts';
import { Headline, HeadlineDetail } from './headline.tsx';
import { useStreamedInstance } from './live-data.tsx';

interface Props {
  instance: Instance;
  /** The server's time in epoch seconds. */
  rendered: number;
}

/** Mark and headline on one line, for a row. */
export function RowStatus({ instance, rendered }: Props) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <span className="inline-flex max-w-full items-baseline gap-2">
      <StateMark
        state={row.state}
        fault={row.fault}
        warm={row.thermal === 'warm'}
        size={15}
        className="flex-none translate-y-[0.1875rem]"
      />
      <span className="min-w-0 overflow-hidden text-ellipsis">
        <Headline instance={row} rendered={rendered} />
      </span>
    </span>
  );
}

/** The state as a chip, with its running clock. */
export function TitleStatus({ instance, rendered }: Props) {
  const row = useStreamedInstance(instance, rendered);
  const isAway = row.unreachable !== null;
  return (
    <StateChip state={row.state} fault={row.fault} away={isAway} warm={row.thermal === 'warm'}>
      {headlineWord(row)} {/* On a phone trouble has no room for its sentence here; the notice below has it. */}
      <span className={isBlocking(row.fault) || isAway ? 'max-sm:hidden' : ''}>
        <span aria-hidden="true">·</span>{' '}
        <span className={row.fault === null && !isAway ? 'font-[420] text-ink-2' : 'font-[420]'}>
          <HeadlineDetail instance={row} rendered={rendered} />
        </span>
      </span>
    </StateChip>
  );
}

/**
 * Whether the process of an active sandbox runs or is paused; nothing of another one. What is said of a running one has
 * the room of the longer sentence, so that nothing moves when the process is paused. On a phone it is left out.
 */
export function ProcessNote({ instance, rendered }: Props) {
  const { state, warm_since: since, unreachable } = useStreamedInstance(instance, rendered);
  const zone = useZone();
  if (state !== 'active' || unreachable !== null) return null;
  const isPaused = since !== null;
  const sinceOrNow = since ?? rendered;
  return (
    <div className={`process-note grid text-ink-2 *:col-start-1 *:row-start-1 ${isPaused ? '' : 'max-sm:hidden'}`}>
      <p className={isPaused ? '' : 'invisible'}>
        Its process is paused in memory since{' '}
        <time dateTime={new Date(sinceOrNow * 1000).toISOString()} title={exactMoment(sinceOrNow, zone)}>
          {timeOfDay(sinceOrNow, zone)}
        </time>
        : the next request continues it in a few milliseconds.
      </p>
      {!isPaused && <p>Its process runs: the next request is answered at once.</p>}
    </div>
  );
}

/**
 * Has the server render the page again when a verb began or ended since, and when its host went away or came back:
 * which moves are open depends on it.
 */
export function FollowOperation({ instance, rendered }: Props) {
  const { pending, unreachable } = useStreamedInstance(instance, rendered);
  const router = useRouter();
  const stale = pending !== instance.pending || (unreachable === null) !== (instance.unreachable === null);
  useEffect(() => {
    if (stale) router.refresh();
  }, [stale, router]);
  return null;
}
