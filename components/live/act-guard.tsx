'use client';
/**
 * Keeps the page when the server goes away under a pressed button. The act waits until the server is back, the ledger
 * says whether it was done, and only a person repeats what is not known to have happened.
 */
import { useEffect, useState } from 'react';
import { toast } from '../ui/toasts.tsx';

/** By this header Next sends a server action. */
const ACTION_HEADER = 'next-action';
const POLL_MS = 500;
/** The search of the ledger begins so many seconds before the act was sent. */
const SEARCH_MARGIN = 60;
const DONE_KEY = 'winterdock.act-done';
/** Answers of what stands between here and a server that is away. */
const AWAY: readonly number[] = [502, 503, 504];

type Held = { is: 'waiting' } | { is: 'back'; again: () => void };
type Fetch = typeof window.fetch;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function newRequestId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The answer, or null when the server is away. Throws when the page itself broke it off. */
async function attempt(send: () => Promise<Response>): Promise<Response | null> {
  try {
    const answer = await send();
    const isOurs = answer.headers.get('content-type')?.startsWith('text/x-component') ?? false;
    return AWAY.includes(answer.status) && !isOurs ? null : answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return null;
  }
}

/** Answers the server's time, in epoch seconds: the browser's may be another. */
async function untilBack(fetch: Fetch): Promise<number> {
  for (;;) {
    const answer = await attempt(() => fetch('/readyz', { cache: 'no-store' }));
    if (answer?.ok === true)
      return Math.floor(Date.parse(answer.headers.get('date') ?? '') / 1000) || Date.now() / 1000;
    await sleep(POLL_MS);
  }
}

/** `since`: epoch seconds. */
async function isInLedger(fetch: Fetch, requestId: string, since: number): Promise<boolean> {
  const query = new URLSearchParams({ request_id: requestId, since: String(Math.floor(since)), limit: '1' });
  const answer = await attempt(() => fetch(`/api/events?${query}`, { cache: 'no-store' }));
  return answer?.ok === true && ((await answer.json()) as unknown[]).length > 0;
}

function guarded(fetch: Fetch, show: (held: Held | null) => void): Fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (init?.method !== 'POST' || !headers.has(ACTION_HEADER)) return fetch(input, init);
    const requestId = newRequestId();
    headers.set('x-request-id', requestId);
    const sentAt = performance.now();
    for (;;) {
      const answer = await attempt(() => fetch(input, { ...init, headers }));
      if (answer !== null) return answer;
      show({ is: 'waiting' });
      const now = await untilBack(fetch);
      const secondsAgo = (performance.now() - sentAt) / 1000;
      if (await isInLedger(fetch, requestId, now - secondsAgo - SEARCH_MARGIN)) {
        sessionStorage.setItem(DONE_KEY, '1');
        location.reload();
        // The page ends here.
        return new Promise(() => {});
      }
      await new Promise<void>((again) => show({ is: 'back', again }));
      show(null);
    }
  };
}

export function ActGuard() {
  const [held, setHeld] = useState<Held | null>(null);
  useEffect(() => {
    if (sessionStorage.getItem(DONE_KEY) !== null) {
      sessionStorage.removeItem(DONE_KEY);
      toast({ ok: true, says: 'It was done before the server went away: the ledger has it.' });
    }
    const fetch = window.fetch;
    window.fetch = guarded(fetch.bind(window), setHeld);
    return () => {
      window.fetch = fetch;
    };
  }, []);
  if (held === null) return null;
  return (
    <div
      role="alert"
      className="fixed inset-x-0 bottom-0 z-20 border-t border-ink bg-sheet px-4 py-3 shadow-lg sm:inset-x-auto sm:right-4 sm:bottom-4 sm:max-w-md sm:rounded sm:border"
    >
      {held.is === 'waiting' ? (
        <p>The server does not answer. This page waits for it, and nothing on it is lost.</p>
      ) : (
        <div className="grid gap-2">
          <p>The server is back. The ledger has nothing of what you asked for, so it is not known to have happened.</p>
          <div className="flex flex-wrap gap-2">
            <button type="button" className="button button-ink" onClick={held.again}>
              Do it again
            </button>
            <button type="button" className="button" onClick={() => location.reload()}>
              Leave it
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
