/**
 * What was run in one sandbox, for the arrow keys. Kept in the tab's own session storage, by person and sandbox:
 * commands may hold secrets, so they go when the tab is closed, and nobody who signs in after finds another's.
 */
const MOST_CHARACTERS = 100_000;

const keyOf = (person: string, id: string) => `winterdock.history.${person}.${id}`;

/** Lines run before, oldest first; none where the browser keeps nothing. */
export function readHistory(person: string, id: string): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(person, id)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((line) => typeof line === 'string') : [];
  } catch {
    // Storage that is forbidden or was written by someone else: an empty history is as good.
    return [];
  }
}

/** Keeps the newest lines. */
export function writeHistory(person: string, id: string, lines: readonly string[]): void {
  const kept: string[] = [];
  let characters = 0;
  for (const line of [...lines].reverse()) {
    characters += line.length;
    if (characters > MOST_CHARACTERS) break;
    kept.unshift(line);
  }
  try {
    sessionStorage.setItem(keyOf(person, id), JSON.stringify(kept));
  } catch {
    // Full or forbidden: the history lives as long as the page.
  }
}
