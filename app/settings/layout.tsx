/** The frame of the settings: their pages, side by side. Each page says itself who may use it. */
import type { ReactNode } from 'react';
import { PlaceLink } from '#components/place-link.tsx';

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="pb-8">
      <nav aria-label="Settings" className="mt-6 flex flex-wrap gap-x-5 gap-y-1 border-b border-rule-2 pb-2">
        <PlaceLink href="/settings" exact>
          Account
        </PlaceLink>
        <PlaceLink href="/settings/people">People</PlaceLink>
        <PlaceLink href="/settings/keys">Keys</PlaceLink>
        <PlaceLink href="/settings/thresholds">Thresholds</PlaceLink>
        <PlaceLink href="/settings/storage">Storage</PlaceLink>
        <PlaceLink href="/settings/ledger">Ledger</PlaceLink>
      </nav>
      {children}
    </div>
  );
}
