/**
 * One event stream for all tabs of a browser. The tab that holds a lock keeps the connection and passes on what it
 * receives. When that tab closes, sleeps or hangs, another takes over after the last line that it saw, so nothing is
 * missed. Where a page may not take locks (plain HTTP on a LAN address) each visible tab has its own stream. It knows
 * nothing of React or of what the lines mean.
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
/** The tab that keeps the stream passes on every heartbeat of the server, one each 15 s. */
const HUNG_MS = 25_000;
const LOOK_MS = 5000;
const OUT_MS = 500;

const isVisible = () => document.visibilityState === 'visible';

/** Joins the shared stream. Returns a function that leaves it. */
function joinShared(position: StreamPosition, listener: StreamListener): () => void {
  const channel = new BroadcastChannel(NAME);
  let left = false;
  let word = Date.now();
  let status: StreamStatus = { is: 'connecting' };
  /** Closes the stream; set while this tab keeps it. */
  let close: (() => void) | undefined;
  /** Aborting it gives up the lock, or the place in the queue for it. */
  let place: AbortController | undefined;

  const say = (message: Message) => {
    if (!left) channel.postMessage(message);
  };
  const keep = () =>
    openStream(position, {
      onEvents(events) {
        listener.onEvents(events);
        say({ kind: 'events', events });
      },
      onChanges(changes) {
        listener.onChanges(changes);
        say({ kind: 'changes', changes });
      },
      onStatus(next) {
        status = next;
        listener.onStatus(next);
        say({ kind: 'status', status, seen: position.seq });
        // The session has ended: the other tabs are told first, so that they do not all ask too. Signing in opens a new
        // stream.
        if (next.is === 'out') setTimeout(() => place?.abort(), OUT_MS);
      },
      onGap() {
        listener.onGap();
        say({ kind: 'gap', seen: position.seq });
      },
    });

  /** Waits for the lock and keeps the stream while this tab holds it. `steal` takes the lock from a tab that hangs. */
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
    // It rejects when the wait was aborted, and when the lock was stolen.
    navigator.locks.request(NAME, steal ? { steal } : { signal: mine.signal }, lead).then(over, over);
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (close !== undefined) say({ kind: 'status', status, seen: position.seq });
      return;
    }
    if (close !== undefined) return;
    word = Date.now();
    if (data.kind === 'events') {
      const events = position.take(data.events);
      if (events.length > 0) listener.onEvents(events);
    } else if (data.kind === 'changes') {
      listener.onChanges(data.changes);
    } else if (data.kind === 'gap') {
      position.seq = data.seen;
      listener.onGap();
    } else {
      status = data.status;
      listener.onStatus(status);
      if (status.is === 'out') place?.abort();
      else if (place === undefined) queue(false);
      if (data.seen <= position.seq) return;
      position.reach(data.seen);
      listener.onGap();
    }
  };

  const look = setInterval(() => {
    if (close !== undefined || status.is === 'out' || !isVisible() || Date.now() - word < HUNG_MS) return;
    listener.onStatus({ is: 'behind', since: word });
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

/** A stream of this tab's own, open only while the tab is visible. Returns a function that closes it. */
function keepOwn(position: StreamPosition, listener: StreamListener): () => void {
  let close: (() => void) | undefined;
  const follow = () => {
    if (isVisible()) {
      close ??= openStream(position, listener);
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
 * Delivers ledger lines after line `seq` until the returned function is called. A page that the browser puts to sleep
 * gives the stream up.
 */
export function openSharedStream(seq: number, listener: StreamListener): () => void {
  const position = new StreamPosition(seq);
  const canShare = 'locks' in navigator && 'BroadcastChannel' in window;
  const join = canShare ? joinShared : keepOwn;
  let leave: (() => void) | undefined = join(position, listener);
  const sleep = () => {
    leave?.();
    leave = undefined;
  };
  const wake = () => {
    if (leave !== undefined) return;
    leave = join(position, listener);
    listener.onGap();
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
