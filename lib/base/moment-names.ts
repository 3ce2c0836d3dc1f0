/**
 * The names of named moments: those that the server gives itself, and how many a sandbox may have. Pure and safe for
 * the browser.
 */

/** Named moments of one sandbox, without those that the server names. */
export const MOST_NAMED_MOMENTS = 50;
/** Those that the server names: before the eleventh the oldest is removed. */
export const MOST_AUTOMATIC_MOMENTS = 10;

/** `before-restore`: what an undo brings back. `before-undo`: what one replaced. */
export const AUTOMATIC_KINDS = ['before-restore', 'before-undo'] as const;
export type AutomaticKind = (typeof AUTOMATIC_KINDS)[number];

/** Which kind of name of the server it is; null: one that people may give. */
export function automaticKindOf(name: string): AutomaticKind | null {
  return AUTOMATIC_KINDS.find((kind) => name.startsWith(`${kind}-`)) ?? null;
}

/** A name that is not among those `taken`, such as `before-restore-20261130T020512Z`. */
export function automaticName(kind: AutomaticKind, nowMs: number, taken: readonly string[]): string {
  const stamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const first = `${kind}-${stamp}`;
  let name = first;
  for (let number = 2; taken.includes(name); number += 1) name = `${first}-${number}`;
  return name;
}
