/** The top of every page: the name, the places there are, whether the page is live, the way out. */
import Link from 'next/link';
import { BrandMark } from '#components/brand-mark.tsx';
import { exactMoment } from '#components/durations.ts';
import { LiveStatus } from '#components/live.tsx';
import { PlaceLink } from '#components/place-link.tsx';
import { signOut } from './actions.ts';
import { renderedAt } from './caller.ts';

export function Masthead() {
  return (
    <header className="page">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3.5 sm:gap-x-7">
        <Link
          href="/"
          className="flex items-center gap-2.5 text-[1.0625rem] font-[620] tracking-[-0.02em] no-underline"
        >
          <BrandMark />
          Winterdock
        </Link>
        <nav
          aria-label="Places"
          className="flex flex-wrap gap-x-5 max-sm:order-3 max-sm:w-full max-sm:justify-between max-sm:gap-x-3 max-sm:text-small"
        >
          <PlaceLink href="/" exact>
            Overview
          </PlaceLink>
          <PlaceLink href="/sandboxes">Sandboxes</PlaceLink>
          <PlaceLink href="/archive">Archive</PlaceLink>
          <PlaceLink href="/snapshots" also={['/blueprints', '/shares']}>
            Library
          </PlaceLink>
          <PlaceLink href="/tenants">Tenants</PlaceLink>
          <PlaceLink href="/audit">Audit</PlaceLink>
        </nav>
        <div className="ml-auto flex flex-wrap items-center gap-x-3.5 gap-y-1 sm:gap-x-5">
          <nav aria-label="Tools" className="flex gap-5">
            <PlaceLink href="/explorer">Explorer</PlaceLink>
            <PlaceLink href="/settings">Settings</PlaceLink>
          </nav>
          <LiveStatus rendered={exactMoment(renderedAt()).slice(11)} />
          <form action={signOut}>
            <button type="submit" className="button button-quiet">
              Sign out
            </button>
          </form>
        </div>
      </div>
    </header>
  );
}
