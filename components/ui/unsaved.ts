/** What is typed and not saved on this page, and the question before it is lost. For the browser only. */

const QUESTION = 'What you have typed is not saved. Leave it all the same?';

/** Each says whether something of it is unsaved at this moment. */
const checks = new Set<() => boolean>();

/** Adds a check; returns what removes it. */
export function addUnsavedCheck(isUnsaved: () => boolean): () => void {
  checks.add(isUnsaved);
  return () => checks.delete(isUnsaved);
}

/** Whether anything is unsaved. */
export function hasUnsaved(): boolean {
  return [...checks].some((isUnsaved) => isUnsaved());
}

/** Whether the page may be left: asks when something is unsaved. */
export function mayLeave(): boolean {
  return !hasUnsaved() || confirm(QUESTION);
}
