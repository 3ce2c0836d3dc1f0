/**
 * The masthead: one row at any width with the name, the navigation, the palette's button, the connection status and the
 * way to sign out. On a narrow page the navigation folds into a menu that works without a script.
 */
import Link from 'next/link';
import { ConnectionStatus } from '#components/live/live-provider.tsx';
import { PaletteTrigger } from '#components/palette/trigger.tsx';
import { BrandMark } from '#components/ui/brand-mark.tsx';
import { exactMoment } from '#components/ui/durations.ts';
import { MAIN_NAV, type NavItem, TOOL_NAV } from '#components/ui/nav-items.ts';
import { NavLink } from '#components/ui/nav-link.tsx';
import { signOut } from './actions.ts';
import { renderedAt } from './caller.ts';
import { sandboxForPalette } from './palette-actions.ts';
import { moveSandbox } from './sandboxes/[id]/actions.ts';

const MENU = 'menu';

function Places({ label, places }: { label: string; places: readonly NavItem[] }) {
  return (
    <nav aria-label={label} className="masthead-places">
      {places.map(({ href, name, exact, also }) => (
        <NavLink key={href} href={href} exact={exact} also={also}>
          {name}
        </NavLink>
      ))}
    </nav>
  );
}

/** Rendered twice, at the end of the row and of the menu; the width decides which one is visible. */
function SignOut({ className }: { className: string }) {
  return (
    <form action={signOut} className={className}>
      <button type="submit" className="button button-quiet">
        Sign out
      </button>
    </form>
  );
}

/** `actor`: the visitor, as the ledger names them. */
export function Masthead({ actor }: { actor: string }) {
  return (
    <header className="page">
      <div className="masthead">
        <Link
          href="/"
          className="flex flex-none items-center gap-2.5 text-[1.0625rem] font-[620] tracking-[-0.02em] no-underline"
        >
          <BrandMark />
          Winterdock
        </Link>
        <div id={MENU} popover="auto" className="masthead-menu">
          <Places label="Places" places={MAIN_NAV} />
          <Places label="Tools" places={TOOL_NAV} />
          <SignOut className="masthead-out" />
        </div>
        <PaletteTrigger actor={actor} ask={sandboxForPalette} move={moveSandbox} />
        <div className="masthead-live">
          <ConnectionStatus rendered={exactMoment(renderedAt()).slice(11)} />
        </div>
        <SignOut className="masthead-end" />
        <button type="button" className="button button-quiet masthead-fold" popoverTarget={MENU}>
          Menu
        </button>
      </div>
    </header>
  );
}
