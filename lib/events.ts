/**
 * The fan-out of the ledger inside this process: every appended line is serialised once and handed to whoever listens. Knows
 * nothing of HTTP; delivering, and giving up on a slow listener, is the listener's affair.
 */
import type { Logger } from './log.ts';
import type { LedgerLine, Registry } from './registry/registry.ts';

/** A line of the ledger with its serialised form. */
export interface Published {
  line: LedgerLine;
  text: string;
}

interface Listener {
  publish(published: Published): void;
  /** Called every 15 s, so that a dead connection shows. */
  beat(): void;
  /** The server stops. */
  close(): void;
}

export interface EventHub {
  /** Adds a listener. Returns the way out, which may be called twice. */
  join(listener: Listener): () => void;
  /** Reports a failure of one listener. */
  failed(error: unknown): void;
  readonly listeners: number;
  /** Ends every listener and takes no more lines. Idempotent. */
  close(): void;
}

const BEAT_MS = 15_000;

/** Makes the fan-out of a registry's ledger. `serialise` runs once per line, and only while someone listens. */
export function createEventHub(options: {
  registry: Pick<Registry, 'onAppend'>;
  serialise: (line: LedgerLine) => string;
  log: Logger;
  beatMs?: number;
}): EventHub {
  const { registry, serialise, log } = options;
  const listeners = new Set<Listener>();

  const each = (act: (listener: Listener) => void) => {
    for (const listener of [...listeners]) {
      try {
        act(listener);
      } catch (error) {
        listeners.delete(listener);
        log.warn({ err: error }, 'a listener of the ledger failed and was left out');
      }
    }
  };

  const stopListening = registry.onAppend((lines) => {
    if (listeners.size === 0) return;
    for (const line of lines) {
      const published = { line, text: serialise(line) };
      each((listener) => listener.publish(published));
    }
  });
  const beats = setInterval(() => each((listener) => listener.beat()), options.beatMs ?? BEAT_MS);
  beats.unref();

  let closed = false;
  return {
    join(listener) {
      if (closed) listener.close();
      else listeners.add(listener);
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
      each((listener) => listener.close());
      listeners.clear();
    },
  };
}
