/** Sandboxes by name, each with the clock of its next move. */
import { RowClock } from '#components/figures/idle-clock.tsx';
import { RowMark } from '#components/live/row-mark.tsx';
import type { Instance } from '#lib/contract/schema.ts';
import { SandboxLink } from './sandbox-link.tsx';

/** `rendered`: the server's time in epoch seconds. */
export function DueList({ instances, rendered }: { instances: readonly Instance[]; rendered: number }) {
  return (
    <ul className="grid">
      {instances.map((instance) => (
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
  );
}
