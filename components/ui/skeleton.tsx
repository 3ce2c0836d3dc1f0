/** Placeholder lines while a browser loads data. Content that the server renders has none. */

const WIDTHS = ['w-3/5', 'w-2/5', 'w-1/2', 'w-1/3'];

/** `says`: for screen readers. */
export function Skeleton({ lines, says }: { lines: number; says: string }) {
  return (
    <div role="status" className="grid gap-3 px-4 py-4">
      <span className="sr-only">{says}…</span>
      {Array.from({ length: lines }, (_, at) => (
        // The lines are interchangeable and never move.
        <span
          key={WIDTHS[at % WIDTHS.length]}
          aria-hidden="true"
          className={`skeleton ${WIDTHS[at % WIDTHS.length]}`}
        />
      ))}
    </div>
  );
}
