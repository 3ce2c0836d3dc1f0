'use client';
/** A link of the navigation that knows when it is where the visitor is. */
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';

export function PlaceLink({
  href,
  exact = false,
  also = [],
  children,
}: {
  href: string;
  exact?: boolean;
  /** Other places that belong to this one. */
  also?: readonly string[];
  children: ReactNode;
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
      onClick={({ currentTarget }) => {
        // In a menu that is open, the choice closes it.
        const menu = currentTarget.closest<HTMLElement>('[popover]');
        if (menu?.matches(':popover-open')) menu.hidePopover();
      }}
      className={`py-1 ${here ? 'font-[560] underline decoration-2 decoration-ink underline-offset-[0.4em]' : 'text-ink-2 no-underline hover:text-ink hover:underline'}`}
    >
      {children}
    </Link>
  );
}
