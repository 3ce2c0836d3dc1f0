'use client';
/**
 * Asks before a link, a step back or a closed tab loses what is not saved. Jumps by code call `mayLeave` first.
 */
import { useEffect, useRef } from 'react';
import { addUnsavedCheck, hasUnsaved, isWatched, mayLeave } from './unsaved.ts';

const TYPED = 'What you have typed is not saved. Leave it all the same?';

function onUnload(event: BeforeUnloadEvent): void {
  if (hasUnsaved()) event.preventDefault();
}

/** Before the link's own handler, which follows it without a new document. */
function onClick(event: MouseEvent): void {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement) || link.target === '_blank' || link.hasAttribute('download')) return;
  const isSamePage = link.hash !== '' && link.href.split('#')[0] === location.href.split('#')[0];
  if (isSamePage || mayLeave(new URL(link.href))) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Back and Forward within the site. Where a browser cannot cancel them, they leave without a question. */
function onNavigate(event: NavigateEvent): void {
  const leaves =
    event.navigationType === 'traverse' && event.cancelable && !event.hashChange && !event.defaultPrevented;
  if (leaves && !mayLeave(new URL(event.destination.url))) event.preventDefault();
}

/** `isUnsaved` is called when somebody is about to leave, with where to, as far as it is known. */
export function useUnsavedQuestion(isUnsaved: (to: URL | null) => boolean, question = TYPED): void {
  const latest = useRef(isUnsaved);
  latest.current = isUnsaved;
  useEffect(() => {
    const history = 'navigation' in window ? window.navigation : null;
    const removeCheck = addUnsavedCheck({ isUnsaved: (to) => latest.current(to), question });
    // The same listeners, however many ask: a browser adds each once.
    window.addEventListener('beforeunload', onUnload);
    window.addEventListener('click', onClick, { capture: true });
    history?.addEventListener('navigate', onNavigate);
    return () => {
      removeCheck();
      if (isWatched()) return;
      window.removeEventListener('beforeunload', onUnload);
      window.removeEventListener('click', onClick, { capture: true });
      history?.removeEventListener('navigate', onNavigate);
    };
  }, [question]);
}
