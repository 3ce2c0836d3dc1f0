/**
 * One client of the ledger's stream: first the lines it missed, then new ones, without a gap or a repeat between them.
 */
import type { Caller } from '../auth/caller.ts';
import { isWinterdockError } from '../base/errors.ts';
import type { Event, StreamQuery } from '../contract/schema.ts';
import type { LineBatch, PublishedLine } from '../ledger/event-hub.ts';
import { eventText, type StreamSink } from './answer.ts';
import { toProblem } from './problem.ts';
import type { Services } from './route.ts';

const PAGE = 500;
/** A client with more bytes than this queued is dropped; it reconnects with its `Last-Event-ID`. */
const QUEUE_BYTES = 1024 * 1024;
/** Lines that may arrive while a client catches up. */
const WAITING_LINES = 5000;
/** After more missed lines than this, a client that follows changes gets a `gap` event instead of the lines. */
const MISSED_LINES = 1000;
const DRAIN_POLL_MS = 20;

type Filter = Omit<StreamQuery, 'last_event_id' | 'with'>;

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
export function streamLedger(options: {
  services: Pick<Services, 'operations' | 'events' | 'changes'>;
  caller: Caller;
  filter: Filter;
  /** The tenants whose lines the caller may see; null: all, and lines of no tenant. */
  tenants: readonly string[] | null;
  after: number | null;
  /** Whether it also gets the events `changes`, `beat` and `gap`. */
  changes: boolean;
  sink: StreamSink;
}): void {
  const { services, caller, filter, tenants, after, changes, sink } = options;
  const key = JSON.stringify([tenants, filter]);
  const suits = (line: PublishedLine['line']) => fits(line, filter, tenants);
  let sent = after ?? -1;
  let waiting: PublishedLine[] | null = after === null ? null : [];

  const write = (piece: string | Uint8Array) => {
    if (sink.queuedBytes > QUEUE_BYTES) sink.drop();
    else sink.write(piece);
  };
  const send = (line: Event | PublishedLine['line'], text: string) => {
    if (line.seq <= sent) return;
    sent = line.seq;
    if (fits(line, filter, tenants)) write(text);
  };
  const sendAll = ({ lines, piece }: LineBatch) => {
    const [first] = lines;
    const last = lines.at(-1);
    if (first === undefined || last === undefined) return;
    if (first.line.seq <= sent) {
      for (const { line, text } of lines) send(line, text);
      return;
    }
    sent = last.line.seq;
    const found = piece(key, suits);
    if (found !== null) write(found);
  };
  const beat = (seq: number | null) => {
    // A client that still catches up has not reached that line.
    const far = seq === null || waiting !== null ? null : Math.max(seq, sent);
    if (changes) write(eventText('beat', { seq: far }, far ?? undefined));
    else write(': beat\n\n');
  };

  const leave = services.events.join(
    {
      publish(batch) {
        if (waiting === null) sendAll(batch);
        else if (waiting.push(...batch.lines) > WAITING_LINES) sink.drop();
      },
      beat,
      close: () => sink.end(),
    },
    caller.actor,
  );
  const scope = filter.tenant === undefined ? tenants : [filter.tenant];
  const leaveChanges = changes ? services.changes.join(scope, write) : () => undefined;
  const leaveAll = () => {
    leave();
    leaveChanges();
  };
  sink.gone.addEventListener('abort', leaveAll, { once: true });
  if (sink.gone.aborted) leaveAll();
  sink.write('retry: 2000\n\n');
  if (after === null) return;

  /** Skips lines that were dropped or are too many, with a `gap` event. */
  const skip = async () => {
    const { last, whole } = await services.changes.standing(after);
    if (whole && last - after <= MISSED_LINES) return;
    sent = last;
    sink.write(eventText('gap', { seq: last }, last));
  };
  const catchUp = async () => {
    if (changes) await skip();
    for (;;) {
      const missed = await services.operations.eventsAfter(caller, sent, PAGE);
      for (const event of missed) send(event, eventText(null, event, event.seq));
      if (changes) services.changes.again(missed);
      if (missed.length === 0 || sink.gone.aborted) break;
      // Back-pressure: missed lines are read no faster than the client takes them.
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
