/** Leads from the first lines of a list to the whole of it. */
import Link from 'next/link';
import type { ReactNode } from 'react';

export function MoreLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <p className="mt-3 text-small">
      <Link href={href} prefetch={false}>
        {children}
      </Link>
    </p>
  );
}
