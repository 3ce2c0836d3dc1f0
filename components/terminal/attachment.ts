/**
 * Tells the server again and again that a terminal is open and in use; that keeps the sandbox awake. It ends when the
 * terminal is closed or unused. A lease and not a connection, because a browser has few of those. Talks to the API
 * only.
 */
import { AttachmentTimer } from './attachment-timer.ts';

/** Well within the lease, even where a hidden tab's timers run once a minute. */
const RENEW_MS = 40_000;

export interface AttachmentListener {
  /** The server was told of the attachment, or of its end. */
  onChanged(): void;
  /** The attachment ended because the terminal was unused; epoch milliseconds. null: it is used again. */
  onReleased(at: number | null): void;
}

export interface Attachment {
  /** A key was pressed or something was printed. */
  used(): void;
  /** The sandbox woke or fell asleep: only an awake one is kept attached. */
  setAwake(awake: boolean): void;
  /** Ends the attachment for good, as closing the page does. */
  leave(): void;
}

/** A random id; plain HTTP pages have no `randomUUID`. */
function newAttachment(): string {
  const random = crypto.getRandomValues(new Uint32Array(3));
  return `tab-${Array.from(random, (part) => part.toString(36)).join('')}`;
}

/** Attaches a terminal to sandbox `id`. */
export function attach(id: string, { onChanged, onReleased }: AttachmentListener): Attachment {
  const address = `/api/instances/${encodeURIComponent(id)}/attachments/${newAttachment()}`;
  // When the server is unreachable, the next renewal tells it.
  const renew = () => fetch(address, { method: 'PUT' }).catch(() => undefined);
  // When the request is lost, the lease runs out.
  const end = () => fetch(address, { method: 'DELETE', keepalive: true }).catch(() => undefined);
  const attachmentTimer = new AttachmentTimer(
    {
      renew: (first) => void renew().then(() => first && onChanged()),
      end: () => void end().then(onChanged),
      released: onReleased,
    },
    Date.now(),
  );
  const look = () => attachmentTimer.tick(Date.now());
  const lookIfVisible = () => document.visibilityState === 'visible' && look();
  const release = () => attachmentTimer.release();
  const timer = setInterval(look, RENEW_MS);
  document.addEventListener('visibilitychange', lookIfVisible);
  window.addEventListener('pagehide', release);
  window.addEventListener('pageshow', lookIfVisible);
  return {
    used: () => attachmentTimer.used(Date.now()),
    setAwake: (awake) => attachmentTimer.setAwake(awake, Date.now()),
    leave() {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', lookIfVisible);
      window.removeEventListener('pagehide', release);
      window.removeEventListener('pageshow', lookIfVisible);
      release();
    },
  };
}
