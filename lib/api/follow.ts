/** One client of the ledger's stream: first what it missed, then what comes, without a gap or a repeat between the two. */
import type { Caller } from '../auth.ts';
import { isWinterdockError } from '../errors.ts';
import type { Published } from '../events.ts';
import { eventText, type Sink } from './answer.ts';
import { toProblem } from './problem.ts';
import type { Services } from './route.ts';
import type { Event, StreamQuery } from './schema.ts';

const PAGE = 500;
/** A client that has not taken so much of what was sent to it is dropped; it comes back with its `Last-Event-ID`. */
const QUEUE_BYTES = 1024 * 1024;
/** Lines that may arrive while a client catches up. */
const WAITING_LINES = 5000;
const DRAIN_POLL_MS = 20;

type Filter = Omit<StreamQuery, 'last_event_id'>;

function fits(
  event: Pick<Event, 'tenant' | 'instance' | 'type' | 'actor' | 'trigger'>,
  filter: Filter,
  tenants: readonly string[] | null,
): boolean {
  return (
    (tenants === null || (event.tenant !== null && tenants.includes(event.tenant))) &&
    (filter.tenant === undefined || event.tenant === filter.tenant) &&
    (filter.instance === undefined || event.instance === filter.instance) &&
    (filter.type === undefined || event.type === filter.type) &&
    (filter.actor === undefined || event.actor === filter.actor) &&
    (filter.trigger === undefined || event.trigger === filter.trigger)
  );
}

/** Sends the ledger to `sink` until it is gone: from `after` on, or from now when that is null. */
export function followLedger(options: {
  services: Pick<Services, 'operations' | 'events'>;
  caller: Caller;
  filter: Filter;
  /** The tenants whose lines it may see; null: all, and those of no tenant. */
  tenants: readonly string[] | null;
  after: number | null;
  sink: Sink;
}): void {
  const { services, caller, filter, tenants, after, sink } = options;
  let sent = after ?? -1;
  let waiting: Published[] | null = after === null ? null : [];

  const send = (line: Event | Published['line'], text: string) => {
    if (line.seq <= sent) return;
    sent = line.seq;
    if (!fits(line, filter, tenants)) return;
    if (sink.queuedBytes > QUEUE_BYTES) sink.drop();
    else sink.write(text);
  };

  const leave = services.events.join({
    publish(published) {
      if (waiting === null) send(published.line, published.text);
      else if (waiting.push(published) > WAITING_LINES) sink.drop();
    },
    beat: () => (sink.queuedBytes > QUEUE_BYTES ? sink.drop() : sink.write(': beat\n\n')),
    close: () => sink.end(),
  });
  sink.gone.addEventListener('abort', leave, { once: true });
  if (sink.gone.aborted) leave();
  sink.write('retry: 2000\n\n');
  if (after === null) return;

  const catchUp = async () => {
    for (;;) {
      const missed = await services.operations.eventsAfter(caller, sent, PAGE);
      for (const event of missed) send(event, eventText(null, event, event.seq));
      if (missed.length === 0 || sink.gone.aborted) break;
      // A long absence is sent as fast as the client takes it.
      while (sink.queuedBytes > QUEUE_BYTES / 2 && !sink.gone.aborted) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      }
    }
    const queued = waiting ?? [];
    waiting = null;
    for (const { line, text } of queued) send(line, text);
  };
  catchUp().catch((error: unknown) => {
    sink.write(eventText('error', toProblem(error, caller.requestId)));
    sink.end();
    if (!isWinterdockError(error)) services.events.failed(error);
  });
}
