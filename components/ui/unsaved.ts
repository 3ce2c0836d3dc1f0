/** What is not saved on this page, and the question before it is lost. For the browser only. */

export interface UnsavedCheck {
  /** Whether something would be lost at this moment. `to`: where somebody goes; null where that is not known. */
  isUnsaved(to: URL | null): boolean;
  question: string;
}

const checks = new Set<UnsavedCheck>();

/** Adds a check; returns what removes it. */
export function addUnsavedCheck(check: UnsavedCheck): () => void {
  checks.add(check);
  return () => checks.delete(check);
}

/** Whether anything of the page may be unsaved at some moment. */
export function isWatched(): boolean {
  return checks.size > 0;
}

/** Whether anything is unsaved. */
export function hasUnsaved(): boolean {
  return [...checks].some(({ isUnsaved }) => isUnsaved(null));
}

/** Whether the page may be left: asks when something is unsaved. */
export function mayLeave(to: URL | null = null): boolean {
  return [...checks].every(({ isUnsaved, question }) => !isUnsaved(to) || confirm(question));
}
