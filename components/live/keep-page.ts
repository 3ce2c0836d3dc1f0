/**
 * Keeps the page when somebody leaves it for a server that does not answer: the browser would show an error in its
 * place. What loads a new document is stopped until the server has answered; links and forms are stopped at once while
 * it is known to be away. For the browser only.
 */
import { currentReach, type NotDone, noteNewer, noteRefused, probe } from './server-reach.ts';

const isAway = () => currentReach().is === 'away';

/** Neither the page's own handlers nor the browser see it. */
function refuse(event: Event, refused: NotDone): void {
  event.preventDefault();
  event.stopImmediatePropagation();
  noteRefused(refused);
  void probe();
}

function onClick(event: MouseEvent): void {
  if (!isAway() || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  const href = link?.getAttribute('href') ?? '#';
  // Places on this page, downloads and other windows leave it as it is.
  if (link === null || href.startsWith('#') || link.hasAttribute('download') || link.hasAttribute('target')) return;
  if (new URL(href, location.href).origin === location.origin) refuse(event, 'link');
}

/** The form that was sent last, to send it again once the server has answered. */
let sent: { form: HTMLFormElement; by: HTMLElement | null } | null = null;

function onSubmit(event: SubmitEvent): void {
  const { target: form, submitter: by } = event;
  if (!(form instanceof HTMLFormElement) || form.method === 'dialog') return;
  sent = { form, by };
  // A page of an older version waits to be read anew, and its acts would wait behind that for ever.
  if (currentReach().is !== 'here') refuse(event, 'act');
}

/** Addresses that may be left for: the server has just answered. */
const cleared = new Set<string>();

function goOn({ destination, navigationType, formData }: NavigateEvent): void {
  cleared.add(destination.url);
  if (formData !== null && sent !== null) sent.form.requestSubmit(sent.by);
  else if (navigationType === 'reload') location.reload();
  else if (navigationType === 'traverse') window.navigation.traverseTo(destination.key);
  else if (navigationType === 'replace') location.replace(destination.url);
  else location.assign(destination.url);
}

function onNavigate(event: NavigateEvent): void {
  const { destination } = event;
  const isElsewhere = new URL(destination.url).origin !== location.origin;
  // Whoever reloads the page by the browser wants to leave it as it is.
  const isWanted = event.navigationType === 'reload' && event.userInitiated;
  if (!event.cancelable || destination.sameDocument || event.downloadRequest !== null) return;
  if (isElsewhere || isWanted) return;
  if (cleared.delete(destination.url)) return;
  event.preventDefault();
  void probe().then((answers) => {
    if (answers) goOn(event);
    else noteRefused(event.formData === null ? 'link' : 'act');
  });
}

/** A script of the console did not load: the server is away, or it is of a version that has no such script. */
function onError({ target }: Event): void {
  if (!(target instanceof HTMLScriptElement) || !target.src.startsWith(`${location.origin}/_next/static/`)) return;
  const { src } = target;
  void probe().then(async (answers) => {
    if (!answers) return;
    const status = await fetch(src, { method: 'HEAD' }).then(
      (answer) => answer.status,
      () => null,
    );
    if (status === 404) noteNewer();
  });
}

/** Begins to watch. Called once, before anything else listens. */
export function keepPage(): void {
  window.addEventListener('click', onClick, { capture: true });
  window.addEventListener('submit', onSubmit, { capture: true });
  window.addEventListener('error', onError, { capture: true });
  if ('navigation' in window) window.navigation.addEventListener('navigate', onNavigate);
}
