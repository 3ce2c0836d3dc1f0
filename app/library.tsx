/** What the pages of the library share: the way between them, and their first heading. */
import type { ReactNode } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Tabs } from '#components/ui/tabs.tsx';
import type { Held } from './flash.ts';

const PLACES = [
  ['Snapshots', '/snapshots'],
  ['Blueprints', '/blueprints'],
  ['Shares', '/shares'],
] as const;

export type LibraryPlace = (typeof PLACES)[number][0];

export function LibraryNav({ here }: { here: LibraryPlace }) {
  return (
    <div className="pt-6">
      <Tabs label="Library" tabs={PLACES.map(([name, href]) => ({ name, href, current: name === here }))} />
    </div>
  );
}

export function LibraryTitle({ name, says }: { name: string; says: string }) {
  return (
    <h1 className="headline pt-8 pb-8">
      {name} <span className="quiet">{says}</span>
    </h1>
  );
}

/** What was refused when a form was posted, where the page shows it. */
export function Refusal({ held }: { held: Held | null }) {
  if (held?.kind !== 'refusal') return null;
  return (
    <div className="mb-5">
      <Outcome outcome={{ ok: false, says: held.says, hint: held.hint }} />
    </div>
  );
}

/** A list that is empty, and what fills it. */
export function Nothing({ children }: { children: ReactNode }) {
  return <div className="max-w-2xl border-t border-ink py-8">{children}</div>;
}
