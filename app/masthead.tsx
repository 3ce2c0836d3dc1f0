/**
 * The masthead: one row at any width with the name, the navigation, the palette's button, the connection status and the
 * way to sign out. On a narrow page the navigation folds into a menu that works without a script.
 */
import Link from 'next/link';
import { ConnectionStatus } from '#components/live/live-provider.tsx';
import { PaletteTrigger } from '#components/palette/trigger.tsx';
import { BrandMark } from '#components/ui/brand-mark.tsx';
import { MAIN_NAV, type NavItem, TOOL_NAV } from '#components/ui/nav-items.ts';
import { NavLink } from '#components/ui/nav-link.tsx';
import { secondOfDay } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { signOut } from './actions.ts';
import { countOfRows, readAttention } from './attention/read.ts';
import { renderedAt } from './caller.ts';
import { sandboxForPalette, sandboxForTerminal } from './palette-actions.ts';
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
function SignOut({ className }: { className?: string }) {
  return (
    <form action={signOut} className={className}>
      <button type="submit" className="button button-quiet">
        Sign out
      </button>
    </form>
  );
}

/** The visitor by name, as a link to their account; rendered twice, as the way out is. */
function Visitor({ name, className }: { name: string; className: string }) {
  return (
    <Link href="/settings" prefetch={false} className={className} title={`Signed in as ${name}`}>
      <span className="sr-only">Signed in as </span>
      {name}
    </Link>
  );
}

/** How much needs a person, on every page; nothing when nothing does. */
async function AttentionCount({ caller }: { caller: Caller }) {
  const { open } = await readAttention(caller);
  const count = countOfRows(open);
  if (count === 0) return null;
  const isWrong = open.some(({ level }) => level === 'wrong');
  return (
    <Link
      href="/attention"
      prefetch={false}
      className={`attention-count ${isWrong ? 'attention-wrong' : ''}`}
      title={`${count.toLocaleString('en')} ${count === 1 ? 'thing needs' : 'things need'} somebody`}
    >
      <span className="sr-only">Attention: </span>
      {count > 99 ? '99+' : count}
    </Link>
  );
}

/** `caller`: the visitor. `name`: as people call them. `zone`: theirs. */
export function Masthead({ caller, name, zone }: { caller: Caller; name: string; zone: string }) {
  const { actor } = caller;
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
          <div className="masthead-out">
            <Visitor name={name} className="mb-2 block max-w-48 truncate" />
            <SignOut />
          </div>
        </div>
        <AttentionCount caller={caller} />
        <PaletteTrigger actor={actor} ask={sandboxForPalette} move={moveSandbox} terminal={sandboxForTerminal} />
        <div className="masthead-live">
          <ConnectionStatus rendered={secondOfDay(renderedAt(), zone)} />
        </div>
        <Visitor name={name} className="masthead-end max-w-24 flex-none truncate text-small text-ink-2" />
        <SignOut className="masthead-end" />
        <button type="button" className="button button-quiet masthead-fold" popoverTarget={MENU}>
          Menu
        </button>
      </div>
    </header>
  );
}
