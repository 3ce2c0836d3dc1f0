/**
 * One connection to the server's event stream, kept open. It resumes after the last line seen, notices a silent
 * connection, and tells an ended session from an unreachable server. It knows nothing of tabs or of React.
 */
import type { Changes, Event, Problem } from '#lib/contract/schema.ts';
import { currentReach, watchReach } from './server-reach.ts';

export type StreamStatus =
  | { is: 'connecting' }
  | { is: 'live' }
  /** `since`: when the server last sent something, epoch milliseconds. */
  | { is: 'behind'; since: number }
  /** The session has ended: nothing arrives until somebody signs in again. */
  | { is: 'out' };

/** Receives what the stream delivers. */
export interface StreamListener {
  /** New lines in order, at least one, each once. */
  onEvents(events: Event[]): void;
  onChanges(changes: Changes): void;
  onStatus(status: StreamStatus): void;
  /** Events may have been missed: read everything again. */
  onGap(): void;
}

const STREAM = '/api/events/stream';
/** The server sends a heartbeat every 15 s. */
const SILENCE_MS = 20_000;
const LOOK_MS = 2500;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** The last ledger line that was delivered. */
export class StreamPosition {
  seq: number;

  constructor(seq: number) {
    this.seq = seq;
  }

  /** Returns the new events in order and moves past them. */
  take(events: readonly Event[]): Event[] {
    return events.filter(({ seq }) => {
      if (seq <= this.seq) return false;
      this.seq = seq;
      return true;
    });
  }

  /** Moves to line `seq`: nothing up to it will arrive any more. */
  reach(seq: number): void {
    this.seq = Math.max(this.seq, seq);
  }
}

/**
 * Opens the stream and keeps it open. On its own reconnects the browser sends `Last-Event-ID`. Returns a function that
 * closes it.
 */
export function openStream(position: StreamPosition, listener: StreamListener): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_RETRY_MS;
  let sign = Date.now();
  let opened = sign;
  let lost = false;
  let closed = false;
  let gathered: Event[] = [];
  // A hidden tab's timer may wait for a minute; a message does not.
  const tick = new MessageChannel();
  const flush = () => {
    const events = gathered;
    gathered = [];
    if (events.length > 0 && !closed) listener.onEvents(events);
  };
  tick.port1.onmessage = flush;

  const behind = () => {
    lost = true;
    flush();
    listener.onStatus({ is: 'behind', since: sign });
  };
  const drop = () => {
    clearTimeout(retry);
    source?.close();
  };

  const open = () => {
    drop();
    opened = Date.now();
    const stream = new EventSource(`${STREAM}?with=changes&last_event_id=${position.seq}`);
    source = stream;
    const on = <T>(name: string, act: (data: T) => void) =>
      stream.addEventListener(name, (message: MessageEvent<string>) => {
        sign = Date.now();
        if (name !== 'message') flush();
        act(JSON.parse(message.data) as T);
      });
    stream.onopen = () => {
      sign = Date.now();
      wait = FIRST_RETRY_MS;
      listener.onStatus({ is: 'live' });
      if (lost) listener.onGap();
      lost = false;
    };
    on<Event>('message', (event) => {
      const [fresh] = position.take([event]);
      if (fresh === undefined) return;
      if (gathered.push(fresh) === 1) tick.port2.postMessage(null);
    });
    on<Changes>('changes', listener.onChanges);
    on<{ seq: number | null }>('beat', ({ seq }) => {
      if (seq !== null) position.reach(seq);
      listener.onStatus({ is: 'live' });
    });
    on<{ seq: number }>('gap', ({ seq }) => {
      position.seq = seq;
      listener.onGap();
    });
    stream.onerror = (event) => {
      behind();
      // The server ended or refused the stream: the browser alone would retry for ever, or never.
      if (event instanceof MessageEvent) end((JSON.parse(event.data) as Problem).code);
      else if (stream.readyState === EventSource.CLOSED) void ask();
    };
  };

  const out = () => {
    close();
    listener.onStatus({ is: 'out' });
  };

  /** The server has ended the stream, with a code. */
  const end = (code: string) => {
    drop();
    if (code === 'unauthorized') out();
    else retry = setTimeout(open, code === 'forbidden' ? 0 : wait);
  };

  /**
   * Asks why the stream was refused. Opens it again when nothing is wrong, and retries less and less often otherwise.
   */
  const ask = async () => {
    drop();
    const status = await fetch(STREAM, { method: 'HEAD' }).then(
      (answer) => answer.status,
      () => null,
    );
    if (closed) return;
    if (status === 401) return out();
    const soon = status !== null && status < 400;
    retry = setTimeout(open, soon ? 0 : wait);
    if (!soon) wait = Math.min(wait * 2, LONGEST_RETRY_MS);
  };

  const look = setInterval(() => {
    if (lost) behind();
    if (source?.readyState === EventSource.CLOSED || Date.now() - Math.max(sign, opened) < SILENCE_MS) return;
    behind();
    open();
  }, LOOK_MS);
  const online = () => {
    if (lost) open();
  };
  const stopWatching = watchReach(() => {
    if (currentReach().is !== 'away') online();
  });
  const close = () => {
    closed = true;
    clearInterval(look);
    stopWatching();
    window.removeEventListener('online', online);
    tick.port1.close();
    drop();
  };
  window.addEventListener('online', online);
  open();
  return close;
}
