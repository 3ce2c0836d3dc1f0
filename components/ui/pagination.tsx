/** Links to the first and the next page of a list. Nothing where everything is on one page. */
import Link from 'next/link';
import { LinkPending } from './link-pending.tsx';

export function Pagination({ first, next }: { first: string | null; next: string | null }) {
  if (first === null && next === null) return null;
  return (
    <nav aria-label="Pages" className="flex justify-between gap-4 py-6">
      {first === null ? (
        <span />
      ) : (
        <Link href={first} className="button" prefetch={false}>
          First page
          <LinkPending />
        </Link>
      )}
      {next !== null && (
        <Link href={next} className="button" prefetch={false} rel="next">
          Next page
          <LinkPending />
        </Link>
      )}
    </nav>
  );
}
