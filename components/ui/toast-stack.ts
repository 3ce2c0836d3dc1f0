/** Which messages stand on the screen and which wait. Pure: the caller says what came and what was dismissed. */
import type { ActionOutcome } from './outcome.tsx';

/** What a person is told: what really happened, and what may be done about it. */
export interface ToastMessage extends ActionOutcome {
  /** Something to do about it, such as taking it back. The message leaves once it is pressed. */
  action?: { label: string; run: () => void };
  /** Where to look. */
  link?: { label: string; href: string };
  /** A later message with the same key takes the place of the earlier one. */
  key?: string;
}

export interface Toast extends ToastMessage {
  /** Its own number. */
  number: number;
}

export const MAX_VISIBLE_TOASTS = 3;

const SHORT_MS = 8000;
const LONG_MS = 20_000;

/**
 * How long a message stays while nobody looks at it closely; null: until it is dismissed. Failures stay, and offers
 * stay longer.
 */
export function toastLifetimeMs({ ok, action, link }: ToastMessage): number | null {
  if (!ok) return null;
  return action === undefined && link === undefined ? SHORT_MS : LONG_MS;
}

/**
 * Adds a message to those that are there, oldest first. When more stand than fit, the oldest good news makes room;
 * failures are never pushed out.
 */
export function withToast(toasts: readonly Toast[], added: Toast): readonly Toast[] {
  const same = added.key === undefined ? -1 : toasts.findIndex(({ key }) => key === added.key);
  const all = same < 0 ? [...toasts, added] : toasts.with(same, added);
  if (all.length <= MAX_VISIBLE_TOASTS) return all;
  const leaves = all.find((toast) => toast.ok && toast !== added);
  return leaves === undefined ? all : all.filter((toast) => toast !== leaves);
}

/** Those on the screen, oldest first; the others wait for a place. */
export function visibleToasts(toasts: readonly Toast[]): readonly Toast[] {
  return toasts.slice(0, MAX_VISIBLE_TOASTS);
}
