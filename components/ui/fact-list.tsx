/** A description list: each fact's name above its value. */
import type { ReactNode } from 'react';

export function FactList({ children }: { children: ReactNode }) {
  return <dl className="grid gap-x-8 gap-y-3 sm:grid-cols-2 xl:grid-cols-4">{children}</dl>;
}

export function Fact({ name, wide = false, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={`border-b border-rule pb-1.5 ${wide ? 'sm:col-span-2' : ''}`}>
      <dt className="text-small text-ink-3">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
