/** The layout of the settings: their tabs. Each page checks its own rights. */
import type { ReactNode } from 'react';
import { ChosenTab } from '#components/ui/chosen-tab.tsx';
import { SETTINGS_NAV } from '#components/ui/nav-items.ts';
import { NavLink } from '#components/ui/nav-link.tsx';

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="pb-8">
      <nav aria-label="Settings" className="tabs mt-6" id="settings-tabs">
        {SETTINGS_NAV.map(({ href, name, exact }) => (
          <NavLink key={href} href={href} exact={exact} tab>
            {name}
          </NavLink>
        ))}
      </nav>
      <ChosenTab id="settings-tabs" />
      {children}
    </div>
  );
}
