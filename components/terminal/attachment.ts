/**
 * Says to the server that a terminal is open, again and again, until it is closed: what holds the sandbox awake under its user. A lease,
 * not a connection, of which a browser has few. Talks to the API only.
 */

/** Well within the lease, also where a hidden tab's timers run once a minute. */
const RENEW_MS = 40_000;

/** An id of its own; plain HTTP pages have no `randomUUID`. */
function newAttachment(): string {
  const random = crypto.getRandomValues(new Uint32Array(3));
  return `tab-${Array.from(random, (part) => part.toString(36)).join('')}`;
}

/** Attaches to sandbox `id`; `changed` is called when the server has heard of it, or of its end. Returns the way out; closing the page is one too. */
export function attach(id: string, changed: () => void): () => void {
  const address = `/api/instances/${encodeURIComponent(id)}/attachments/${newAttachment()}`;
  // A server that is away for a moment hears of it the next time.
  const renew = () => fetch(address, { method: 'PUT' }).catch(() => undefined);
  // What gets lost on the way is ended by the lease.
  const end = () => fetch(address, { method: 'DELETE', keepalive: true }).catch(() => undefined);
  const look = () => {
    if (document.visibilityState === 'visible') void renew();
  };
  const timer = setInterval(renew, RENEW_MS);
  document.addEventListener('visibilitychange', look);
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', look);
  void renew().then(changed);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('pagehide', end);
    window.removeEventListener('pageshow', look);
    void end().then(changed);
  };
}
