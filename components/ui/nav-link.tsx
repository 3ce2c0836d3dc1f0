'use client';
/** A link of the navigation that knows when it is where the visitor is. */
import Link from 'next/link';
import { usePathname } from 'next/navigation';

export function NavLink({
  href,
  exact = false,
  also = [],
  tab = false,
  children,
}: {
  href: string;
  /** Looks like a tab, by the rules of its row. */
  tab?: boolean;
  exact?: boolean;
  /** Other places that belong to this one. */
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
        // In a menu that is open, the choice closes it.
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
    </Link>
  );
}
