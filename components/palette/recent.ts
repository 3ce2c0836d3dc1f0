/**
 * Recently visited sandboxes of one visitor, newest first, and the one whose terminal they used last, in this browser's
 * local storage. A convenience: a browser that refuses storage has none.
 */
import type { RecentSandbox } from './items.ts';

const KEPT = 6;

function keyOf(actor: string): string {
  return `winterdock.recent.${actor}`;
}

/** The recent sandboxes of `actor`. */
export function readRecent(actor: string): RecentSandbox[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(actor)) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter(
      (each): each is RecentSandbox =>
        typeof each?.id === 'string' && (each.name === null || typeof each.name === 'string'),
    );
  } catch {
    // Storage is refused, or holds something else.
    return [];
  }
}

const terminalKeyOf = (actor: string) => `${keyOf(actor)}.terminal`;

/** The sandbox whose terminal `actor` used last in this browser, or null. */
export function readTerminalSandbox(actor: string): string | null {
  try {
    return localStorage.getItem(terminalKeyOf(actor));
  } catch {
    // Storage is refused.
    return null;
  }
}

/** Records that `actor` uses a terminal of a sandbox; null: that there is none to come back to. */
export function writeTerminalSandbox(actor: string, id: string | null): void {
  try {
    if (id === null) localStorage.removeItem(terminalKeyOf(actor));
    else localStorage.setItem(terminalKeyOf(actor), id);
  } catch {
    // Storage is refused or full: nothing depends on it.
  }
}

/** Removes everybody's. */
export function clearRecent(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(''))) localStorage.removeItem(key);
    sessionStorage.clear();
  } catch {
    // Storage is refused: then nothing was stored either.
  }
}

/** Records that `actor` visited a sandbox. */
export function addRecent(actor: string, { id, name }: RecentSandbox): void {
  const others = readRecent(actor).filter((each) => each.id !== id);
  try {
    localStorage.setItem(keyOf(actor), JSON.stringify([{ id, name }, ...others].slice(0, KEPT)));
  } catch {
    // Storage is refused or full: nothing depends on it.
  }
}
