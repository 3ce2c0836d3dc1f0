/** The box of a log: its newest lines are in sight. */
import type { PrintedLine } from '#lib/contract/schema.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { PrintedLines } from './printed-lines.tsx';

/** Its content is laid out from its end on, so that it begins there. `zone`: of the reader. */
export function LogBox({
  lines,
  callHref,
  hasNames,
  none,
  zone,
}: {
  lines: readonly PrintedLine[];
  callHref: string;
  hasNames: boolean;
  none: string;
  zone: string;
}) {
  return (
    <div
      className="flex max-h-[60dvh] min-h-24 flex-col-reverse overflow-y-auto rounded border border-rule-2 bg-sheet py-2"
      role="log"
      aria-live="off"
      aria-label="Lines of the log"
      {...SCROLLABLE}
    >
      {lines.length === 0 ? (
        <p className="my-auto px-3 text-ink-2">{none}</p>
      ) : (
        <PrintedLines lines={lines} callHref={callHref} hasNames={hasNames} zone={zone} />
      )}
    </div>
  );
}
