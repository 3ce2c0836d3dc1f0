/**
 * The command history of one sandbox, in the tab's session storage, by person and sandbox. Commands may hold secrets:
 * they go when the tab is closed, and the next person to sign in does not see them.
 */
const MOST_CHARACTERS = 100_000;

const keyOf = (person: string, id: string) => `winterdock.history.${person}.${id}`;

/** Earlier lines, oldest first; none where the browser has no storage. */
export function readHistory(person: string, id: string): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(person, id)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((line) => typeof line === 'string') : [];
  } catch {
    // Storage is forbidden or holds something else: an empty history will do.
    return [];
  }
}

/** Stores the newest lines. */
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
    // Storage is full or forbidden: the history lives as long as the page.
  }
}
