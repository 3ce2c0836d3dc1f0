/** The automatic moves of the next hour: how many when, and the first of them by name. */
import Link from 'next/link';
import { type DueSpan, DueStrip } from '#app/overview/due-strip.tsx';
import type { Instance } from '#lib/contract/schema.ts';
import { DueList } from './due-list.tsx';

/** `spans`: the hour. `first`: those due soonest. `rendered`: the server's time. `zone`: the reader's. */
export function Due({
  spans,
  first,
  rendered,
  zone,
}: {
  spans: readonly DueSpan[];
  first: readonly Instance[];
  rendered: number;
  zone: string;
}) {
  if (first.length === 0) return <p className="text-ink-2">Nothing moves by itself within the hour.</p>;
  return (
    <>
      <DueStrip spans={spans} zone={zone} />
      <div className="mt-3">
        <DueList instances={first} rendered={rendered} />
      </div>
      <p className="pt-2 text-small">
        <Link href={`/sandboxes?due_until=${spans.at(-1)?.until ?? rendered}&sort=-updated`} prefetch={false}>
          All of them
        </Link>
      </p>
    </>
  );
}
