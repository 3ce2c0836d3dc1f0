'use client';
/**
 * The bar over a page whose server does not answer, or is of another version: since when, what was not done meanwhile,
 * and that the page stays. It goes by itself. It stands in the page's flow, so that it covers nothing.
 */
import { useSyncExternalStore } from 'react';
import { useZone } from '../ui/zone.tsx';
import { exactMoment, timeOfDay } from '../ui/zones.ts';
import { currentReach, type NotDone, type Reach, renderedReach, watchReach } from './server-reach.ts';

const REFUSED: Readonly<Record<NotDone, string>> = {
  act: 'Nothing was done, and what you typed stays.',
  link: 'Nothing was opened: this page stays.',
};

function Words({ reach }: { reach: Exclude<Reach, { is: 'here' }> }) {
  const zone = useZone();
  const refused = reach.refused === null ? null : <strong className="font-[620]"> {REFUSED[reach.refused]}</strong>;
  if (reach.is === 'newer') {
    return (
      <>
        <p>A newer version is there. This page is of the older one and is not read anew.{refused}</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      </>
    );
  }
  const since = Math.floor(reach.since / 1000);
  return (
    <p>
      The server does not answer since{' '}
      <time dateTime={new Date(reach.since).toISOString()} title={exactMoment(since, zone)}>
        {timeOfDay(since, zone)}
      </time>
      , trying again.{refused}
    </p>
  );
}

export function ServerBar() {
  const reach = useSyncExternalStore(watchReach, currentReach, renderedReach);
  return (
    <div role="status" className="server-bar">
      {reach.is !== 'here' && <Words reach={reach} />}
    </div>
  );
}
