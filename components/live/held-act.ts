/**
 * The act whose answer was lost: whether it is held, and what the ledger says of it. For the browser only; knows
 * nothing of React.
 */

/** `again` sends it once more. */
export type LostAct = { is: 'waiting' } | { is: 'back'; again: () => void };

const POLL_MS = 500;
/** The search of the ledger begins so many seconds before the act was sent. */
const SEARCH_MARGIN = 60;
const DONE_KEY = 'winterdock.act-done';

let held: LostAct | null = null;
const watchers = new Set<() => void>();

export function holdAct(next: LostAct | null): void {
  held = next;
  for (const watcher of watchers) watcher();
}

export function heldAct(): LostAct | null {
  return held;
}

export function watchHeldAct(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function newRequestId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const answerOf = (address: string) => fetch(address, { cache: 'no-store' }).catch(() => null);

/** Waits until the server is ready. Answers its time, in epoch seconds: the browser's may be another. */
export async function serverTime(): Promise<number> {
  for (;;) {
    const answer = await answerOf('/readyz');
    if (answer?.ok === true)
      return Math.floor(Date.parse(answer.headers.get('date') ?? '') / 1000) || Date.now() / 1000;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** `sent`: when the act was sent, by the server's clock, in epoch seconds. */
export async function isInLedger(requestId: string, sent: number): Promise<boolean> {
  const since = String(Math.floor(sent - SEARCH_MARGIN));
  const answer = await answerOf(`/api/events?${new URLSearchParams({ request_id: requestId, since, limit: '1' })}`);
  return answer?.ok === true && ((await answer.json()) as unknown[]).length > 0;
}

/** For the page that is loaded next: the act was done. */
export function noteDone(): void {
  sessionStorage.setItem(DONE_KEY, '1');
}

/** Whether the page before this one noted that its act was done. */
export function takeDone(): boolean {
  const isDone = sessionStorage.getItem(DONE_KEY) !== null;
  sessionStorage.removeItem(DONE_KEY);
  return isDone;
}
