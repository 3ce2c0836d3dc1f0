/** What moves by itself within the hour: when how many, and the first of them by name. */
import Link from 'next/link';
import { type DueSpan, DueStrip } from '#components/due-strip.tsx';
import { RowClock } from '#components/idle-clock.tsx';
import { RowMark } from '#components/live-row.tsx';
import type { Instance } from '#lib/api/schema.ts';
import { SandboxLink } from './sandbox-link.tsx';

/** `spans` are the hour; `first`: those that are due soonest. `rendered`: the server's time in epoch seconds. */
export function Due({
  spans,
  first,
  rendered,
}: {
  spans: readonly DueSpan[];
  first: readonly Instance[];
  rendered: number;
}) {
  if (first.length === 0) return <p className="text-ink-2">Nothing moves by itself within the hour.</p>;
  return (
    <>
      <DueStrip spans={spans} />
      <ul className="mt-3 grid">
        {first.map((instance) => (
          <li
            key={instance.id}
            className="flex items-baseline justify-between gap-4 border-b border-rule py-2 last:border-0"
          >
            <span className="flex min-w-0 items-baseline gap-2">
              <RowMark instance={instance} rendered={rendered} size={14} className="translate-y-0.5 flex-none" />
              <SandboxLink instance={instance} />
            </span>
            <span className="text-small whitespace-nowrap">
              <RowClock instance={instance} rendered={rendered} />
            </span>
          </li>
        ))}
      </ul>
      <p className="pt-2 text-small">
        <Link href={`/sandboxes?due_until=${spans.at(-1)?.until ?? rendered}&sort=-updated`} prefetch={false}>
          All of them
        </Link>
      </p>
    </>
  );
}
