'use client';
/** Inside a link: a line at the window's upper edge while the page that it leads to is not there yet. */
import { useLinkStatus } from 'next/link';

/** Shown after 200 ms (its style): what comes sooner needs no sign. */
export function LinkPending() {
  const { pending } = useLinkStatus();
  return pending ? <span className="pending-line" aria-hidden="true" /> : null;
}
