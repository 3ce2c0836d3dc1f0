'use client';
/**
 * Asks before a link, a step back or a closed tab loses what was typed and not saved. Jumps by code call `mayLeave`
 * first.
 */
import { useEffect, useRef } from 'react';
import { addUnsavedCheck, hasUnsaved, mayLeave } from './unsaved.ts';

/** `isUnsaved` is called when somebody is about to leave. */
export function useUnsavedQuestion(isUnsaved: () => boolean): void {
  const latest = useRef(isUnsaved);
  latest.current = isUnsaved;
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      if (hasUnsaved()) event.preventDefault();
    };
    // Before the link's own handler, which follows it without a new document.
    const onClick = (event: MouseEvent) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      if (!(link instanceof HTMLAnchorElement) || link.target === '_blank' || link.hasAttribute('download')) return;
      const isSamePage = link.hash !== '' && link.href.split('#')[0] === location.href.split('#')[0];
      if (isSamePage || mayLeave()) return;
      event.preventDefault();
      event.stopPropagation();
    };
    // Back and Forward within the site. Where a browser cannot cancel them, they leave without a question.
    const onNavigate = (event: NavigateEvent) => {
      const leaves = event.navigationType === 'traverse' && event.cancelable && !event.hashChange;
      if (leaves && !mayLeave()) event.preventDefault();
    };
    const history = 'navigation' in window ? window.navigation : null;
    const removeCheck = addUnsavedCheck(() => latest.current());
    window.addEventListener('beforeunload', onUnload);
    window.addEventListener('click', onClick, { capture: true });
    history?.addEventListener('navigate', onNavigate);
    return () => {
      removeCheck();
      window.removeEventListener('beforeunload', onUnload);
      window.removeEventListener('click', onClick, { capture: true });
      history?.removeEventListener('navigate', onNavigate);
    };
  }, []);
}
