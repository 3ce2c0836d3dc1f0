/** The frame of the settings: their pages, side by side. Each page says itself who may use it. */
import type { ReactNode } from 'react';
import { PlaceLink } from '#components/place-link.tsx';
import { SETTINGS } from '#components/places.ts';

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="pb-8">
      <nav aria-label="Settings" className="mt-6 flex flex-wrap gap-x-5 gap-y-1 border-b border-rule-2 pb-2">
        {SETTINGS.map(({ href, name, exact }) => (
          <PlaceLink key={href} href={href} exact={exact}>
            {name}
          </PlaceLink>
        ))}
      </nav>
      {children}
    </div>
  );
}
