/**
 * Fans out the ledger inside this process: serialises every appended line once and passes it to all listeners, at once
 * after a quiet moment, in batches while many arrive. Knows nothing of HTTP; a listener handles its own delivery and
 * back-pressure.
 */
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerLine } from '../registry/types.ts';

/** A line of the ledger with its serialised form. */
export interface PublishedLine {
  line: LedgerLine;
  text: string;
}

/** Lines that were appended within a moment, in order; at least one. */
export interface LineBatch {
  readonly lines: readonly PublishedLine[];
  /**
   * The lines that `fits` accepts, as one buffer, or null when there are none. Built once for each `key`, which
   * identifies the filter.
   */
  piece(key: string, fits: (line: LedgerLine) => boolean): Buffer | null;
}

interface Listener {
  publish(batch: LineBatch): void;
  /** Called every 15 s, so that a dead connection is noticed. `seq`: the newest published line; null: none yet. */
  beat(seq: number | null): void;
  /** The server stops. */
  close(): void;
}

export interface EventHub {
  /** Throws `rate_limited` when an actor of the ledger already has the maximum number of listeners. */
  requirePlace(actor: string): void;
  /** Adds a listener of an actor. Returns the unsubscriber, which is idempotent. */
  join(listener: Listener, actor: string): () => void;
  /** Reports a failure of one listener. */
  failed(error: unknown): void;
  readonly listeners: number;
  /** Ends every listener and takes no more lines. Idempotent. */
  close(): void;
}

const BEAT_MS = 15_000;
/** Most listeners of one person or key. */
const MOST_EACH = 1000;
/** How long lines are collected after a batch: nobody reads faster, and each batch costs one write per listener. */
const GATHER_MS = 80;
const GATHER_LINES = 200;

function batchOf(lines: readonly PublishedLine[]): LineBatch {
  const pieces = new Map<string, Buffer | null>();
  return {
    lines,
    piece(key, fits) {
      let piece = pieces.get(key);
      if (piece === undefined) {
        const text = lines.reduce((all, { line, text }) => (fits(line) ? all + text : all), '');
        piece = text === '' ? null : Buffer.from(text);
        pieces.set(key, piece);
      }
      return piece;
    },
  };
}

/** Makes the fan-out of a registry's ledger. `serialise` runs once per line, and only while someone listens. */
export function createEventHub(options: {
  registry: Pick<Registry, 'commitEvents'>;
  serialise: (line: LedgerLine) => string;
  log: Logger;
  beatMs?: number;
  gatherMs?: number;
  mostEach?: number;
}): EventHub {
  const { registry, serialise, log, gatherMs = GATHER_MS, mostEach = MOST_EACH } = options;
  /** Each listener's actor. */
  const listeners = new Map<Listener, string>();

  const each = (act: (listener: Listener) => void) => {
    for (const listener of [...listeners.keys()]) {
      try {
        act(listener);
      } catch (error) {
        listeners.delete(listener);
        log.warn({ err: error }, 'a listener of the ledger failed and was left out');
      }
    }
  };

  let gathered: LedgerLine[] = [];
  let timer: NodeJS.Timeout | undefined;
  let newest: number | null = null;

  /** Delivers the collected lines; lines within the next moment wait for its end. */
  const publish = () => {
    clearTimeout(timer);
    const lines = gathered;
    gathered = [];
    timer = lines.length === 0 ? undefined : setTimeout(publish, gatherMs);
    if (lines.length === 0) return;
    const batch = batchOf(lines.map((line) => ({ line, text: serialise(line) })));
    each((listener) => listener.publish(batch));
  };
  const stopListening = registry.commitEvents.onLedgerAppend(({ lines }) => {
    newest = lines.at(-1)?.seq ?? newest;
    if (listeners.size === 0) return;
    for (const line of lines) gathered.push(line);
    if (timer === undefined || gathered.length >= GATHER_LINES) publish();
  });
  const beat = () => {
    publish();
    each((listener) => listener.beat(newest));
  };
  const beats = setInterval(beat, options.beatMs ?? BEAT_MS);
  beats.unref();

  let closed = false;
  return {
    requirePlace(actor) {
      let theirs = 0;
      for (const owner of listeners.values()) if (owner === actor) theirs += 1;
      if (theirs < mostEach) return;
      throw new WinterdockError('rate_limited', `${theirs} streams of yours are open already.`, {
        retryAfterSeconds: 5,
      });
    },
    join(listener, actor) {
      // What was gathered happened before.
      publish();
      if (closed) listener.close();
      else listeners.set(listener, actor);
      return () => listeners.delete(listener);
    },
    failed: (error) => log.error({ err: error }, 'a stream of the ledger failed'),
    get listeners() {
      return listeners.size;
    },
    close() {
      if (closed) return;
      closed = true;
      stopListening();
      clearInterval(beats);
      publish();
      clearTimeout(timer);
      each((listener) => listener.close());
      listeners.clear();
    },
  };
}
