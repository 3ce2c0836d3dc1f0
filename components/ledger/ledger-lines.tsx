/** Ledger lines in words: who did what to which sandbox, from where to where, why, and how long it took. */
import type { ReactNode } from 'react';
import type { Event } from '#lib/contract/schema.ts';
import type { State } from '#lib/lifecycle/state-map.ts';
import { StateMark } from '../sandbox/state-mark.tsx';
import { tookInWords } from '../ui/durations.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import {
  type ActorNames,
  actionInWords,
  actorInWords,
  quoted,
  reasonInWords,
  sourceInWords,
  triggerInWords,
} from './event-words.ts';

function Move({ from, to }: { from: State | null; to: State | null }) {
  if (to === null) return null;
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-1.5 text-small text-ink-2 md:flex-nowrap">
      {from !== null && from !== to && (
        <>
          <StateMark state={from} size={13} className="flex-none translate-y-0.5" />
          {from}
          <span aria-hidden="true">→</span>
          <span className="sr-only">to</span>
        </>
      )}
      <StateMark state={to} size={13} className="flex-none translate-y-0.5" />
      {to}
    </span>
  );
}

function What({ event, showInstance, names }: { event: Event; showInstance: boolean; names?: ActorNames }) {
  const source = sourceInWords(event);
  const reason = reasonInWords(event, names);
  return (
    <>
      <span className="font-[520]">{actorInWords(event, names)}</span> {actionInWords(event)}{' '}
      {showInstance && event.instance !== null ? (
        <a href={`/sandboxes/${event.instance}`} className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
          {event.instance}
        </a>
      ) : (
        event.instance !== null && 'it'
      )}
      {source !== null && event.to === 'active' && <span className="text-ink-2"> {source}</span>}
      {reason !== null && (
        <span className="text-ink-2 [overflow-wrap:anywhere]">
          {event.type.startsWith('fault.') ? `: ${reason}` : ` · ${quoted(reason)}`}
        </span>
      )}
      {event.error !== null && (
        <span className="block text-small text-fault-ink [overflow-wrap:anywhere]">{event.error}</span>
      )}
    </>
  );
}

/**
 * `rendered`: the server's time in epoch seconds. `showInstance`: names the sandbox in each line. `names`: actors by
 * name. `more`: a disclosure with more about a line.
 */
export function LedgerLines({
  events,
  rendered,
  showInstance = true,
  names,
  more,
}: {
  events: readonly Event[];
  rendered: number;
  showInstance?: boolean;
  names?: ActorNames;
  more?: (event: Event) => ReactNode;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">What happened</th>
          <th scope="col">Move</th>
          <th scope="col">Why</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Took
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            When
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <tr key={event.seq} title={event.request_id === null ? undefined : `request ${event.request_id}`}>
            <td className="max-md:col-span-full md:w-full">
              {more === undefined ? (
                <What event={event} showInstance={showInstance} names={names} />
              ) : (
                <div className="flex flex-wrap items-baseline justify-between gap-x-6">
                  <div className="min-w-0 max-md:w-full md:max-w-[calc(100%-7rem)]">
                    <What event={event} showInstance={showInstance} names={names} />
                  </div>
                  {more(event)}
                </div>
              )}
            </td>
            <td className="max-md:col-start-1">
              <Move from={event.from} to={event.to} />
            </td>
            <td className="text-small whitespace-nowrap text-ink-2 max-md:col-start-1 max-md:order-4">
              {triggerInWords(event)}
            </td>
            <td className="text-right whitespace-nowrap text-small text-ink-2 max-md:col-start-2 max-md:order-5">
              {event.took_ms === null ? '' : tookInWords(event.took_ms)}
            </td>
            <td className="text-right whitespace-nowrap text-small text-ink-2 max-md:col-start-2 max-md:order-3 [&_time]:inline-block [&_time]:min-w-28">
              <RelativeTime at={event.time} rendered={rendered} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
