'use client';
/** Keeps the chosen tab in view, and gives it the focus when an address asks for the tabs. */
import { usePathname } from 'next/navigation';
import { useEffect } from 'react';

/**
 * `id`: of the tabs. `current`: the chosen one, where the path does not tell it. An address ends in `#id` when it asks
 * for the tabs.
 */
export function ChosenTab({ id, current = '' }: { id: string; current?: string }) {
  const path = usePathname();
  useEffect(() => {
    const tabs = document.getElementById(id);
    const chosen = tabs?.querySelector<HTMLElement>('[aria-current="page"]') ?? null;
    if (tabs === null || chosen === null) return;
    tabs.scrollLeft = chosen.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - chosen.offsetWidth) / 2;
    if (location.hash !== `#${id}`) return;
    const { top, bottom } = tabs.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) tabs.scrollIntoView();
    // What the tab shows may have taken the focus already, as a terminal does.
    const content = tabs.nextElementSibling;
    if (content?.contains(document.activeElement) !== true) chosen.focus({ preventScroll: true });
  }, [id, current, path]);
  return null;
}
