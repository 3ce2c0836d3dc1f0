/**
 * Says to the server that a terminal is open and used, again and again, until it is closed or forgotten: what holds the
 * sandbox awake under its user. A lease, not a connection, of which a browser has few. Talks to the API only.
 */
import { AttachmentTimer } from './attachment-timer.ts';

/** Well within the lease, also where a hidden tab's timers run once a minute. */
const RENEW_MS = 40_000;

export interface AttachmentListener {
  /** The server has heard of it, or of its end. */
  onChanged(): void;
  /** It let go for want of use at that moment, in epoch milliseconds; null when it is used again. */
  onReleased(at: number | null): void;
}

export interface Attachment {
  /** A key was pressed or something was printed. */
  used(): void;
  /** The sandbox woke or fell asleep: only one that is awake is held. */
  setAwake(awake: boolean): void;
  /** Ends it for good; closing the page does too. */
  leave(): void;
}

/** An id of its own; plain HTTP pages have no `randomUUID`. */
function newAttachment(): string {
  const random = crypto.getRandomValues(new Uint32Array(3));
  return `tab-${Array.from(random, (part) => part.toString(36)).join('')}`;
}

/** A terminal on sandbox `id` is open. */
export function attach(id: string, { onChanged, onReleased }: AttachmentListener): Attachment {
  const address = `/api/instances/${encodeURIComponent(id)}/attachments/${newAttachment()}`;
  // A server that is away for a moment hears of it the next time.
  const renew = () => fetch(address, { method: 'PUT' }).catch(() => undefined);
  // What gets lost on the way is ended by the lease.
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
