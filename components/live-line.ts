/**
 * The one line to the server's event stream that all tabs of a browser share: the tab that holds a lock keeps it open and
 * passes on what it hears. Where a page may not take locks (plain HTTP on a LAN address) each visible tab has its own.
 * Nothing is missed: a stream begins after the last line that was seen. Knows nothing of React or of what the lines mean.
 */
import type { Event } from '#lib/api/schema.ts';

export type LineStatus = 'connecting' | 'live' | 'behind';

export interface Listener {
  onEvent(event: Event): void;
  onStatus(status: LineStatus): void;
  /** Lines were passed over: read everything again. */
  onGap(): void;
}

type Message =
  | { kind: 'event'; event: Event }
  | { kind: 'status'; status: LineStatus; seen: number }
  | { kind: 'hello' };

const NAME = 'winterdock.events';
const STREAM = '/api/events/stream';
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** What was seen of the ledger so far. */
class Seen {
  seq: number;

  constructor(seq: number) {
    this.seq = seq;
  }

  /** True when `event` is new. */
  take(event: Event): boolean {
    if (event.seq <= this.seq) return false;
    this.seq = event.seq;
    return true;
  }
}

/** Opens the stream and keeps it open. The browser sends `Last-Event-ID` when it reconnects by itself. Returns the closer. */
function keepStream(seen: Seen, listener: Omit<Listener, 'onGap'>): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_RETRY_MS;

  const open = () => {
    source = new EventSource(`${STREAM}?last_event_id=${seen.seq}`);
    source.onopen = () => {
      wait = FIRST_RETRY_MS;
      listener.onStatus('live');
    };
    source.onmessage = (message: MessageEvent<string>) => {
      const event = JSON.parse(message.data) as Event;
      if (seen.take(event)) listener.onEvent(event);
    };
    source.onerror = () => {
      listener.onStatus('behind');
      if (source?.readyState !== EventSource.CLOSED) return;
      // Refused, not interrupted: the browser gives up, so try again more and more slowly.
      retry = setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    };
  };
  open();
  return () => {
    clearTimeout(retry);
    source?.close();
  };
}

/** Joins the shared line. Returns the way out. */
function joinShared(seen: Seen, listener: Listener): () => void {
  const channel = new BroadcastChannel(NAME);
  const leaving = new AbortController();
  let leading = false;
  let status: LineStatus = 'connecting';
  const say = (message: Message) => {
    if (!leaving.signal.aborted) channel.postMessage(message);
  };
  const tell = (next: LineStatus) => {
    status = next;
    listener.onStatus(next);
    say({ kind: 'status', status, seen: seen.seq });
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (leading) say({ kind: 'status', status, seen: seen.seq });
    } else if (data.kind === 'event') {
      if (seen.take(data.event)) listener.onEvent(data.event);
    } else {
      listener.onStatus(data.status);
      if (data.seen <= seen.seq) return;
      seen.seq = data.seen;
      listener.onGap();
    }
  };
  say({ kind: 'hello' });

  navigator.locks
    .request(NAME, { signal: leaving.signal }, async () => {
      leading = true;
      const close = keepStream(seen, {
        onEvent: (event) => {
          listener.onEvent(event);
          say({ kind: 'event', event });
        },
        onStatus: tell,
      });
      await new Promise((resolve) => leaving.signal.addEventListener('abort', resolve, { once: true }));
      close();
    })
    .catch((error: unknown) => {
      // Leaving while still waiting for the lock rejects the wait; nothing was opened.
      if (!leaving.signal.aborted) throw error;
    });

  return () => {
    leaving.abort();
    channel.close();
  };
}

/** A line of this tab's own, open only while the tab is looked at. Returns the way out. */
function keepOwn(seen: Seen, listener: Listener): () => void {
  let close: (() => void) | undefined;
  const follow = () => {
    if (document.visibilityState === 'visible') {
      close ??= keepStream(seen, listener);
    } else {
      close?.();
      close = undefined;
    }
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close?.();
  };
}

/** Listens to the ledger from the line after `seq` on, until the returned function is called. */
export function listen(seq: number, listener: Listener): () => void {
  const seen = new Seen(seq);
  const canShare = 'locks' in navigator && 'BroadcastChannel' in window;
  return canShare ? joinShared(seen, listener) : keepOwn(seen, listener);
}
