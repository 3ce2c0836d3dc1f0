'use client';
/** Ctrl+S, or ⌘S, saves what is edited on the page, wherever the keyboard is, and not the page. */
import { type RefObject, useEffect } from 'react';

/** `save`: the button that saves. A terminal over the page keeps its own keys. */
export function useSaveKey(save: RefObject<HTMLButtonElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || event.altKey || !(event.ctrlKey || event.metaKey)) return;
      if (event.defaultPrevented || (event.target instanceof Element && event.target.closest('.terminal-box') !== null))
        return;
      event.preventDefault();
      save.current?.click();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [save]);
}
