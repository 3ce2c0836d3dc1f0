/** Rows of what needs a person: what, since when, why, and where to go. */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Attention } from '#lib/contract/schema.ts';

/** `rendered`: the server's time in epoch seconds. `beside`: what may be done about it. */
export function AttentionRows({
  rows,
  rendered,
  beside,
}: {
  rows: readonly Attention[];
  rendered: number;
  beside?: (row: Attention) => ReactNode;
}) {
  return (
    <ul className="grid gap-3">
      {rows.map((row) => (
        <li
          key={row.id}
          className={`grid gap-x-8 gap-y-2 border-l-4 px-4 py-2.5 ${
            row.level === 'wrong' ? 'border-fault bg-fault-wash' : 'border-rule-2 bg-sheet'
          } ${beside === undefined ? '' : 'md:grid-cols-[minmax(0,1fr)_auto]'}`}
        >
          <div className="min-w-0">
            <p className="[overflow-wrap:anywhere]">
              <Link href={row.page} prefetch={false} className="font-[540]">
                {row.name}
              </Link>{' '}
              <span className="text-small text-ink-2">
                {row.level === 'warning' && 'warning'}
                {row.level === 'warning' && row.since !== null && ', '}
                {row.since !== null && (
                  <>
                    since <RelativeTime at={row.since} rendered={rendered} />
                  </>
                )}
              </span>
            </p>
            <p className="text-small [overflow-wrap:anywhere]">{row.says}</p>
          </div>
          {beside !== undefined && <div className="self-center">{beside(row)}</div>}
        </li>
      ))}
    </ul>
  );
}
