/** Whether a tab of the browser has the drawer open, and of which sandbox, so that a reload opens it again. */

const keyOf = (actor: string) => `winterdock.drawer.${actor}`;

/** The sandbox whose terminals the drawer shows in this tab; null when it is closed. */
export function readOpenDrawer(actor: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(actor));
  } catch {
    // Storage is refused: a reload closes the drawer.
    return null;
  }
}

/** Records that the drawer is open with a sandbox's terminals; null: that it is closed. */
export function writeOpenDrawer(actor: string, id: string | null): void {
  try {
    if (id === null) sessionStorage.removeItem(keyOf(actor));
    else sessionStorage.setItem(keyOf(actor), id);
  } catch {
    // As above.
  }
}
