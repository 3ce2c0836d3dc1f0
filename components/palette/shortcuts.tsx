'use client';
/**
 * Listens for shortcuts and runs them. It ignores keys that belong to something else: fields, lists and trees with keys
 * of their own, a terminal, an open dialog, any key with a modifier. Single-letter shortcuts can be switched off; the
 * browser remembers it.
 */
import { useRouter } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { mayLeave } from '../ui/unsaved.ts';
import { keepFocus } from './kept-focus.ts';
import { isDrawerKey, type ShortcutAction, shortcutFor } from './shortcut-table.ts';

const SETTING = 'winterdock.shortcuts';
/** How long the first key of a pair waits for the second one. */
const PAIR_MS = 1500;
const OWN_KEYS =
  'input, textarea, select, [contenteditable], dialog, .xterm, [role="tree"], [role="listbox"], [role="menu"], [role="grid"], [role="application"], [data-own-keys]';

/** Whether single-letter shortcuts are on, as they are where storage is refused. */
export function letterShortcutsOn(): boolean {
  try {
    return localStorage.getItem(SETTING) !== 'off';
  } catch {
    // Storage is refused: the default is on.
    return true;
  }
}

/** Switches single-letter shortcuts on or off, here and in tabs opened later. */
export function setLetterShortcuts(on: boolean): void {
  try {
    if (on) localStorage.removeItem(SETTING);
    else localStorage.setItem(SETTING, 'off');
  } catch {
    // Storage is refused: the choice is not kept, and the switch falls back visibly.
  }
}

const SHEET_WANTED = 'winterdock:sheet';

/** Asks the key listener to open the list of shortcuts. */
export function openShortcutSheet(): void {
  document.dispatchEvent(new Event(SHEET_WANTED));
}

function visible<E extends HTMLElement>(selector: string): E[] {
  return [...document.querySelectorAll<E>(selector)].filter((element) => element.checkVisibility());
}

/** The links that open rows, in page order. */
function rowLinks(): HTMLElement[] {
  return visible('main table tbody tr').flatMap((row) => row.querySelector<HTMLElement>('a[href]') ?? []);
}

function step(by: 1 | -1): void {
  const links = rowLinks();
  const here = links.findIndex((link) => link.closest('tr') === document.activeElement?.closest('tr'));
  const next = here < 0 ? (by === 1 ? 0 : -1) : Math.min(links.length - 1, Math.max(0, here + by));
  const link = links.at(next);
  link?.focus();
  link?.closest('tr')?.scrollIntoView({ block: 'nearest' });
}

/** Closes what was opened over the page, and gives the keyboard back to its button. False when nothing is open. */
function closeCover(target: EventTarget | null): boolean {
  if (target instanceof Element && target.closest('.xterm') !== null) return false;
  const cover = [...document.querySelectorAll<HTMLDetailsElement>('details[data-cover][open]')].at(-1);
  if (cover === undefined) return false;
  cover.open = false;
  cover.querySelector('summary')?.focus();
  return true;
}

export function Shortcuts({
  onPalette,
  onSheet,
  onCalls,
  onTerminal,
}: {
  onPalette: () => void;
  onSheet: () => void;
  onCalls: () => void;
  onTerminal: () => void;
}) {
  const router = useRouter();
  const act = useRef<(does: ShortcutAction | { go: string }) => void>(() => {});
  act.current = (does) => {
    if (typeof does === 'object') {
      if (mayLeave()) router.push(does.go);
      return;
    }
    switch (does) {
      case 'palette':
        return onPalette();
      case 'sheet':
        return onSheet();
      case 'find': {
        const [field] = visible<HTMLInputElement>('main input[name="q"], main input[name="filter"]');
        if (field === undefined) return onPalette();
        field.focus();
        return field.select();
      }
      case 'create': {
        const [fold] = visible('main summary[data-create]');
        if (fold !== undefined) return fold.click();
        if (mayLeave()) router.push('/sandboxes#new');
        return;
      }
      case 'next':
        return step(1);
      case 'previous':
        return step(-1);
      case 'choose':
        return document.activeElement
          ?.closest('main tr')
          ?.querySelector<HTMLElement>('input[type="checkbox"]')
          ?.click();
      case 'calls':
        return onCalls();
      case 'terminal':
        return onTerminal();
      case 'message':
        return visible('.toasts button, .toasts a').at(-1)?.focus();
    }
  };

  useEffect(keepFocus, []);

  useEffect(() => {
    let before: string | null = null;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const forget = () => {
      before = null;
      clearTimeout(waiting);
    };
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if ((ctrlKey || metaKey) && !altKey && !event.shiftKey && key.toLowerCase() === 'k') {
        // A terminal uses this key itself: it deletes to the end of the line.
        if (target instanceof Element && target.closest('.xterm') !== null) return;
        event.preventDefault();
        forget();
        return act.current('palette');
      }
      const owned = target instanceof Element && target.closest(OWN_KEYS) !== null;
      if (document.querySelector('dialog[open]') !== null) return forget();
      if (key === 'Escape' && closeCover(target)) {
        event.preventDefault();
        return forget();
      }
      if (isDrawerKey(event)) {
        event.preventDefault();
        forget();
        return act.current('terminal');
      }
      if (ctrlKey || metaKey || altKey || owned || !letterShortcutsOn()) return forget();
      const found = shortcutFor(before, key);
      forget();
      if (found === 'waits') {
        before = key;
        waiting = setTimeout(forget, PAIR_MS);
      } else if (found !== null && found.does !== 'native') {
        event.preventDefault();
        act.current(found.does);
      }
    };
    const sheet = () => act.current('sheet');
    document.addEventListener('keydown', press);
    document.addEventListener(SHEET_WANTED, sheet);
    return () => {
      forget();
      document.removeEventListener('keydown', press);
      document.removeEventListener(SHEET_WANTED, sheet);
    };
  }, []);
  return null;
}
