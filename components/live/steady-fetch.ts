/**
 * What Next's router asks the server for. The router leaves the page, by a navigation of the browser, when an answer
 * does not come, comes from what stands between, breaks off or is of another version; an action that fails so replaces
 * the page by an error. So no such answer reaches it: a page that is read anew waits for the server, a link that cannot
 * be followed is dropped, and an act is held until a person decides.
 */
import { toast } from '../ui/toasts.tsx';
import { holdAct, isInLedger, newRequestId, noteDone, serverTime } from './held-act.ts';
import { jittered, noteNewer, noteRefused, probe, untilHere } from './server-reach.ts';

type Fetch = typeof window.fetch;

const PAGE_HEADER = 'rsc';
const PREFETCH_HEADERS = ['next-router-prefetch', 'next-router-segment-prefetch'];
/** By this header Next sends a server action. */
const ACTION_HEADER = 'next-action';
const UNKNOWN_ACTION_HEADER = 'x-nextjs-action-not-found';
/** The build that answered; the page's own is in `data-build`. */
const BUILD_HEADER = 'x-winterdock-build';
/** Answers of what stands between here and a server that is away. */
const AWAY: readonly number[] = [502, 503, 504];
/** The server's own answer to more than it takes at once: it passes. */
const TOO_MANY = 429;
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 15_000;
/** How often a link is tried whose page does not come although the server answers. */
const LINK_TRIES = 3;

const never = () => new Promise<never>(() => {});
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The whole answer, or null when it is none of the server's, or broke off. Throws when the page itself broke it off.
 */
async function wholeAnswer(send: () => Promise<Response>): Promise<Response | null> {
  try {
    const answer = await send();
    const isOurs = answer.headers.get('content-type')?.startsWith('text/x-component') ?? false;
    if (!isOurs) return AWAY.includes(answer.status) ? null : answer;
    const { status, statusText, headers, url, redirected } = answer;
    const whole = new Response(await answer.arrayBuffer(), { status, statusText, headers });
    // What is made by hand has no address, and the router asks for it.
    return Object.defineProperties(whole, { url: { value: url }, redirected: { value: redirected } });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return null;
  }
}

function isOfOtherBuild(answer: Response): boolean {
  const { build } = document.documentElement.dataset;
  const theirs = answer.headers.get(BUILD_HEADER);
  return build !== undefined && theirs !== null && theirs !== build;
}

function isThisPage(input: RequestInfo | URL): boolean {
  const url = new URL(input instanceof Request ? input.url : input, location.href);
  url.searchParams.delete('_rsc');
  const here = new URL(location.href);
  return url.pathname === here.pathname && url.searchParams.toString() === here.searchParams.toString();
}

/** The link that was followed last: one before it is no longer followed. */
let lastLink = 0;

/** Stays on the page instead of following a link: the router forgets it when it is sent to where it is. */
function dropLink(): void {
  const { router } = (window as unknown as { next: { router: { replace(to: string, how: object): void } } }).next;
  router.replace(`${location.pathname}${location.search}${location.hash}`, { scroll: false });
}

async function readPage(send: () => Promise<Response>, isHere: boolean): Promise<Response> {
  if (!isHere) lastLink += 1;
  const link = lastLink;
  for (let tries = 1, wait = FIRST_WAIT_MS; ; tries += 1, wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const answer = await wholeAnswer(send);
    const isFailed = answer === null || answer.status === TOO_MANY || (isHere && answer.status >= 500);
    if (!isFailed && isHere && isOfOtherBuild(answer)) {
      // Another version's page is not put into this one: the router would load it as a whole, over what was typed.
      noteNewer();
      return never();
    }
    if (!isFailed) return answer;
    if (await probe()) {
      if (isHere || tries < LINK_TRIES) {
        await sleep(jittered(wait));
        continue;
      }
      if (link !== lastLink) return never();
      toast({ ok: false, says: 'That page did not come, though the server answers. This page stays; try it again.' });
    } else if (isHere) {
      await untilHere();
      continue;
    }
    if (link !== lastLink) return never();
    noteRefused('link');
    dropLink();
    return never();
  }
}

async function act(send: (headers: Headers) => Promise<Response>, headers: Headers): Promise<Response> {
  const requestId = newRequestId();
  headers.set('x-request-id', requestId);
  const sentAt = performance.now();
  for (;;) {
    const answer = await wholeAnswer(() => send(headers));
    if (answer?.headers.get(UNKNOWN_ACTION_HEADER) === '1') {
      noteNewer('act');
      return never();
    }
    if (answer !== null) {
      if (isOfOtherBuild(answer)) noteNewer();
      return answer;
    }
    holdAct({ is: 'waiting' });
    await untilHere();
    const since = (await serverTime()) - (performance.now() - sentAt) / 1000;
    if (await isInLedger(requestId, since)) {
      noteDone();
      location.reload();
      return never();
    }
    await new Promise<void>((again) => holdAct({ is: 'back', again }));
    holdAct(null);
  }
}

/** `window.fetch` for the page: what is not the router's goes through as it is. */
export function steadyFetch(fetch: Fetch): Fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (init?.method === 'POST' && headers.has(ACTION_HEADER)) {
      return act((sent) => fetch(input, { ...init, headers: sent }), headers);
    }
    const isPage = headers.has(PAGE_HEADER) && !PREFETCH_HEADERS.some((name) => headers.has(name));
    return isPage ? readPage(() => fetch(input, init), isThisPage(input)) : fetch(input, init);
  };
}
