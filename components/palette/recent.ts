/**
 * Sandboxes that were looked at in this browser, newest first, for one visitor. A convenience: where storage is refused
 * there are none.
 */
import type { RecentSandbox } from './items.ts';

const KEPT = 6;

function keyOf(actor: string): string {
  return `winterdock.recent.${actor}`;
}

/** Those of `actor`, as the ledger writes him. */
export function readRecent(actor: string): RecentSandbox[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(actor)) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter(
      (each): each is RecentSandbox =>
        typeof each?.id === 'string' && (each.name === null || typeof each.name === 'string'),
    );
  } catch {
    // Refused, or not ours.
    return [];
  }
}

/** Forgets those of everybody. */
export function clearRecent(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(''))) localStorage.removeItem(key);
  } catch {
    // Refused: then nothing was kept either.
  }
}

/** Remembers that `actor` looked at it. */
export function addRecent(actor: string, { id, name }: RecentSandbox): void {
  const others = readRecent(actor).filter((each) => each.id !== id);
  try {
    localStorage.setItem(keyOf(actor), JSON.stringify([{ id, name }, ...others].slice(0, KEPT)));
  } catch {
    // Refused or full: nothing depends on it.
  }
}
