'use client';
/** A navigation link that marks itself as current. */
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { LinkPending } from './link-pending.tsx';

export function NavLink({
  href,
  exact = false,
  also = [],
  tab = false,
  children,
}: {
  href: string;
  /** Drawn as a tab. */
  tab?: boolean;
  exact?: boolean;
  /** Other addresses where it is current. */
  also?: readonly string[];
  children: string;
}) {
  const pathname = usePathname();
  const here = exact
    ? pathname === href
    : [href, ...also].some((place) => pathname === place || pathname.startsWith(`${place}/`));
  return (
    <Link
      href={href}
      prefetch={false}
      aria-current={here ? 'page' : undefined}
      data-name={children}
      onClick={({ currentTarget }) => {
        // Choosing an item closes the menu.
        const menu = currentTarget.closest<HTMLElement>('[popover]');
        if (menu?.matches(':popover-open')) menu.hidePopover();
      }}
      className={
        tab
          ? 'steady'
          : `steady py-1 ${here ? 'font-[560] underline decoration-2 decoration-ink underline-offset-[0.4em]' : 'text-ink-2 no-underline hover:text-ink hover:underline'}`
      }
    >
      {children}
      <LinkPending />
    </Link>
  );
}
