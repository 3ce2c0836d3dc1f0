/**
 * Whether the server answers this page, and whether it is the version that the page came from. Asks `/healthz` when
 * something makes it doubtful, and again until it answers. For the browser only; knows nothing of React or of what was
 * asked for.
 */

/** What a person asked for while the server was away, and what did not happen therefore. */
export type NotDone = 'act' | 'link';

export type Reach =
  | { is: 'here' }
  /** `since`: when it first did not answer, epoch milliseconds. */
  | { is: 'away'; since: number; refused: NotDone | null }
  /** The server is of another version than the page. `refused`: what could not be done for that. */
  | { is: 'newer'; refused: NotDone | null };

const PROBE = '/healthz';
const STREAM = '/api/events/stream';
/** An answer that takes longer is none. */
const PROBE_MS = 5000;
const FIRST_WAIT_MS = 500;
/** A person waits for the page: never longer than this. */
const LONGEST_WAIT_MS = 5000;

const HERE: Reach = { is: 'here' };
let reach: Reach = HERE;
let isNewer = false;
const watchers = new Set<() => void>();
let underWay: Promise<boolean> | null = null;
let next: ReturnType<typeof setTimeout> | undefined;
let wait = FIRST_WAIT_MS;

function become(now: Reach): void {
  reach = now;
  for (const watcher of watchers) watcher();
}

/** Some of the wait, so that the pages of a browser do not all ask at once. */
export const jittered = (ms: number) => ms * (0.5 + Math.random() / 2);

const answerOf = (address: string, method = 'GET') =>
  fetch(address, { method, cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) }).catch(() => null);

/** What stands between here and the server may answer everything with a page of its own, whatever the status. */
async function isAnswered(): Promise<boolean> {
  const health = await answerOf(PROBE);
  if (health === null || health.status >= 500) return false;
  const said: unknown = await health.json().catch(() => null);
  if (health.ok && (said as { status?: unknown } | null)?.status === 'ok') return true;
  // Some proxies keep that address to themselves. Without the stream there is no console; 401: signed out.
  const stream = await answerOf(STREAM, 'HEAD');
  const type = stream?.status === 401 ? 'application/problem+json' : 'text/event-stream';
  return stream?.headers.get('content-type')?.startsWith(type) ?? false;
}

async function ask(begun: number): Promise<boolean> {
  clearTimeout(next);
  const answers = await isAnswered();
  underWay = null;
  if (answers) {
    wait = FIRST_WAIT_MS;
    if (reach.is === 'away') become(isNewer ? { is: 'newer', refused: null } : HERE);
    return true;
  }
  if (reach.is !== 'away') become({ is: 'away', since: begun, refused: null });
  next = setTimeout(() => void probe(), jittered(wait));
  wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  return false;
}

/** Asks the server now. Resolves with whether it answers; what is shown follows. */
export function probe(): Promise<boolean> {
  underWay ??= ask(Date.now());
  return underWay;
}

/** Resolves when the server answers. */
export async function untilHere(): Promise<void> {
  if (await probe()) return;
  await new Promise<void>((resolve) => {
    const stop = watchReach(() => {
      if (reach.is === 'away') return;
      stop();
      resolve();
    });
  });
}

/** Something makes it doubtful that the server answers. */
export function suspectServer(): void {
  if (reach.is !== 'away') void probe();
}

/** Something of another version was seen. */
export function noteNewer(refused: NotDone | null = null): void {
  isNewer = true;
  if (reach.is !== 'away') become({ is: 'newer', refused });
}

/** Says that something was asked for in vain. */
export function noteRefused(refused: NotDone): void {
  if (reach.is !== 'here') become({ ...reach, refused });
}

export function currentReach(): Reach {
  return reach;
}

/** On the server, and before the browser's scripts run. */
export function renderedReach(): Reach {
  return HERE;
}

/** Calls `watcher` after each change. Returns a function that ends it. */
export function watchReach(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Asks at once when the browser is back on a network, or the page is looked at again. */
export function askWhenWoken(): void {
  const woken = () => {
    if (reach.is === 'away' && document.visibilityState === 'visible') void probe();
  };
  window.addEventListener('online', woken);
  document.addEventListener('visibilitychange', woken);
}
