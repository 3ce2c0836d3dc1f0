/** Breadcrumbs: links to the pages above this one, over its heading. */
import Link from 'next/link';
import { Fragment } from 'react';
import { LinkPending } from './link-pending.tsx';

/** `tight`: in a line over the heading. */
export function Breadcrumbs({
  steps,
  tight = false,
}: {
  steps: readonly { name: string; href: string }[];
  tight?: boolean;
}) {
  return (
    <nav aria-label="Where this is" className={`${tight ? '' : 'mb-5'} flex flex-wrap gap-x-2 text-small text-ink-3`}>
      {steps.map(({ name, href }, index) => (
        <Fragment key={href}>
          {index > 0 && <span aria-hidden="true">/</span>}
          <Link href={href} className="[overflow-wrap:anywhere]">
            {name}
            <LinkPending />
          </Link>
        </Fragment>
      ))}
    </nav>
  );
}
