'use client';
/** Keeps a file that was dropped beside its place from taking the console's place in the tab. */
import { useEffect } from 'react';

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}

function refuse(event: DragEvent): void {
  if (event.defaultPrevented || !hasFiles(event)) return;
  if (event.target instanceof Element && event.target.closest('input[type="file"]')) return;
  event.preventDefault();
  if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none';
}

export function StrayDrops() {
  useEffect(() => {
    // On the window: whoever takes drops has decided by then.
    window.addEventListener('dragover', refuse);
    window.addEventListener('drop', refuse);
    return () => {
      window.removeEventListener('dragover', refuse);
      window.removeEventListener('drop', refuse);
    };
  }, []);
  return null;
}
