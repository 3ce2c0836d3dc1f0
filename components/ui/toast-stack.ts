/** Which toasts are visible and which wait. Pure: takes what came and what was dismissed. */
import type { ActionOutcome } from './outcome.tsx';

/** A message: what really happened, and what can be done about it. */
export interface ToastMessage extends ActionOutcome {
  /** A button, such as Undo. Pressing it dismisses the message. */
  action?: { label: string; run: () => void };
  /** Where to see more. */
  link?: { label: string; href: string };
  /** A later message with the same key replaces this one. */
  key?: string;
}

export interface Toast extends ToastMessage {
  /** Unique. */
  number: number;
}

export const MAX_VISIBLE_TOASTS = 3;

const SHORT_MS = 8000;
const LONG_MS = 20_000;

/** What the list of toasts shows. */
export interface ToastListProps {
  all: readonly Toast[];
  onDismiss: (number: number) => void;
}

/**
 * How long a message stays unless the pointer or the focus is on it; null: until it is dismissed. Failures stay; a
 * message with a button or a link stays longer.
 */
export function toastLifetimeMs({ ok, action, link }: ToastMessage): number | null {
  if (!ok) return null;
  return action === undefined && link === undefined ? SHORT_MS : LONG_MS;
}

/**
 * Adds a message, oldest first. When there are more than fit, the oldest success makes room; failures are never
 * dropped.
 */
export function withToast(toasts: readonly Toast[], added: Toast): readonly Toast[] {
  const same = added.key === undefined ? -1 : toasts.findIndex(({ key }) => key === added.key);
  const all = same < 0 ? [...toasts, added] : toasts.with(same, added);
  if (all.length <= MAX_VISIBLE_TOASTS) return all;
  const leaves = all.find((toast) => toast.ok && toast !== added);
  return leaves === undefined ? all : all.filter((toast) => toast !== leaves);
}

/** The visible messages, oldest first; the others wait. */
export function visibleToasts(toasts: readonly Toast[]): readonly Toast[] {
  return toasts.slice(0, MAX_VISIBLE_TOASTS);
}
