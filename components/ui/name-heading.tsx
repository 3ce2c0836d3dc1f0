/** The headline of the page of one thing: its name, and below it, small, what it is. */
import type { ReactNode } from 'react';

/** `children`: what it is, in a few words. */
export function NameHeading({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <h1 className="headline [overflow-wrap:anywhere]">{name}</h1>
      <p className="mt-1.5 text-ink-2 [overflow-wrap:anywhere]">{children}</p>
    </>
  );
}
