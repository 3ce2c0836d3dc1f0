/**
 * The one stream that all tabs of a browser share: the tab that holds a lock keeps it open and passes on what it hears.
 * A tab that closes, sleeps or hangs is followed by another, which begins after the last line that it saw, so nothing
 * is missed. Where a page may not take locks (plain HTTP on a LAN address) each visible tab has its own. Knows nothing
 * of React or of what the lines mean.
 */
import type { Changes, Event } from '#lib/contract/schema.ts';
import { openStream, type StreamListener, StreamPosition, type StreamStatus } from './stream.ts';

type Message =
  | { kind: 'events'; events: Event[] }
  | { kind: 'changes'; changes: Changes }
  | { kind: 'status'; status: StreamStatus; seen: number }
  | { kind: 'gap'; seen: number }
  | { kind: 'hello' };

const NAME = 'winterdock.events';
/** The tab that keeps the stream passes on every beat of the server, which come every 15 s. */
const HUNG_MS = 25_000;
const LOOK_MS = 5000;
const OUT_MS = 500;

const isVisible = () => document.visibilityState === 'visible';

/** Joins the shared stream. Returns the way out. */
function joinShared(seen: StreamPosition, heard: StreamListener): () => void {
  const channel = new BroadcastChannel(NAME);
  let left = false;
  let word = Date.now();
  let status: StreamStatus = { is: 'connecting' };
  /** Closes the stream; set while this tab keeps it. */
  let close: (() => void) | undefined;
  /** The place in the queue for the lock, or the lock itself: aborted to give it up. */
  let place: AbortController | undefined;

  const say = (message: Message) => {
    if (!left) channel.postMessage(message);
  };
  const keep = () =>
    openStream(seen, {
      onEvents(events) {
        heard.onEvents(events);
        say({ kind: 'events', events });
      },
      onChanges(changes) {
        heard.onChanges(changes);
        say({ kind: 'changes', changes });
      },
      onStatus(next) {
        status = next;
        heard.onStatus(next);
        say({ kind: 'status', status, seen: seen.seq });
        // Whoever signs in again opens a stream; the others are told first, lest each of them asks too.
        if (next.is === 'out') setTimeout(() => place?.abort(), OUT_MS);
      },
      onGap() {
        heard.onGap();
        say({ kind: 'gap', seen: seen.seq });
      },
    });

  /** Keeps the stream for as long as this tab has the lock. `steal` takes it from a tab that hangs. */
  const queue = (steal: boolean) => {
    place?.abort();
    const mine = new AbortController();
    place = mine;
    const lead = async () => {
      if (mine.signal.aborted) return;
      close = keep();
      await new Promise((resolve) => mine.signal.addEventListener('abort', resolve, { once: true }));
    };
    const over = () => {
      if (place !== mine) return;
      close?.();
      close = undefined;
      place = undefined;
      if (!mine.signal.aborted) queue(false);
    };
    // It rejects when the place was given up, and when the lock was taken away.
    navigator.locks.request(NAME, steal ? { steal } : { signal: mine.signal }, lead).then(over, over);
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (close !== undefined) say({ kind: 'status', status, seen: seen.seq });
      return;
    }
    if (close !== undefined) return;
    word = Date.now();
    if (data.kind === 'events') {
      const events = seen.take(data.events);
      if (events.length > 0) heard.onEvents(events);
    } else if (data.kind === 'changes') {
      heard.onChanges(data.changes);
    } else if (data.kind === 'gap') {
      seen.seq = data.seen;
      heard.onGap();
    } else {
      status = data.status;
      heard.onStatus(status);
      if (status.is === 'out') place?.abort();
      else if (place === undefined) queue(false);
      if (data.seen <= seen.seq) return;
      seen.reach(data.seen);
      heard.onGap();
    }
  };

  const look = setInterval(() => {
    if (close !== undefined || status.is === 'out' || !isVisible() || Date.now() - word < HUNG_MS) return;
    heard.onStatus({ is: 'behind', since: word });
    word = Date.now();
    queue(true);
  }, LOOK_MS);
  say({ kind: 'hello' });
  queue(false);

  return () => {
    left = true;
    clearInterval(look);
    close?.();
    close = undefined;
    place?.abort();
    channel.close();
  };
}

/** A stream of this tab's own, open only while the tab is looked at. Returns the way out. */
function keepOwn(seen: StreamPosition, heard: StreamListener): () => void {
  let close: (() => void) | undefined;
  const follow = () => {
    if (isVisible()) {
      close ??= openStream(seen, heard);
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

/**
 * Listens to the ledger from the line after `seq` on, until the returned function is called. A page that sleeps lets go
 * of the stream.
 */
export function openSharedStream(seq: number, heard: StreamListener): () => void {
  const seen = new StreamPosition(seq);
  const canShare = 'locks' in navigator && 'BroadcastChannel' in window;
  const join = canShare ? joinShared : keepOwn;
  let leave: (() => void) | undefined = join(seen, heard);
  const sleep = () => {
    leave?.();
    leave = undefined;
  };
  const wake = () => {
    if (leave !== undefined) return;
    leave = join(seen, heard);
    heard.onGap();
  };
  const ways = [
    [window, 'pagehide', sleep],
    [document, 'freeze', sleep],
    [window, 'pageshow', wake],
    [document, 'resume', wake],
  ] as const;
  for (const [target, name, act] of ways) target.addEventListener(name, act);
  return () => {
    for (const [target, name, act] of ways) target.removeEventListener(name, act);
    sleep();
  };
}
