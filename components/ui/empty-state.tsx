/** Shown in place of an empty list: that it is empty, and how to fill it. */
import type { ReactNode } from 'react';

export function EmptyState({ children }: { children: ReactNode }) {
  return (
    <div className="border-t border-ink py-8">
      <div className="max-w-2xl">{children}</div>
    </div>
  );
}
