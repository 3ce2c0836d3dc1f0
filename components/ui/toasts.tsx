'use client';
/**
 * Toasts: messages about something that is no longer on the page, such as a row that left its list or a job that ended
 * elsewhere. They stand at the bottom of the window, or at its top where they would cover the focus. An outcome that
 * can be shown in place is shown there (outcome.tsx).
 */
import { type ComponentType, useEffect, useState, useSyncExternalStore } from 'react';
import { type Toast, type ToastListProps, type ToastMessage, withToast } from './toast-stack.ts';

export type { ToastMessage } from './toast-stack.ts';

let toasts: readonly Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();
const NONE: readonly Toast[] = [];

function become(next: readonly Toast[]): void {
  toasts = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function dismissToast(number: number): void {
  become(toasts.filter((toast) => toast.number !== number));
}

/** Shows a toast, in the browser only. Returns a function that takes it back. */
export function toast(words: ToastMessage): () => void {
  last += 1;
  const number = last;
  become(withToast(toasts, { ...words, number }));
  return () => dismissToast(number);
}

const loadList = async () => (await import('./toast-list.tsx')).ToastList;

/** The toasts. Rendered once, by the layout. */
export function Toasts() {
  const all = useSyncExternalStore(
    watch,
    () => toasts,
    () => NONE,
  );
  const [list, setList] = useState<ComponentType<ToastListProps> | null>(null);
  useEffect(() => {
    if (all.length === 0 || list !== null) return;
    loadList().then(
      (loaded) => setList(() => loaded),
      // It did not come: the next toast asks again.
      () => {},
    );
  }, [all, list]);
  const List = list;
  return List === null ? null : <List all={all} onDismiss={dismissToast} />;
}
