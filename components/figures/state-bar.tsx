/** Counts by state: a bar in the colours of the states, and the numbers, each linking to its list. */
import Link from 'next/link';
import { STATES, type State } from '#lib/lifecycle/state-map.ts';
import { StateMark } from '../sandbox/state-mark.tsx';

type Counts = Readonly<Record<State, number>>;

const WIDTH = 1000;
const HEIGHT = 14;
/** The least width of a state with a count above zero. */
const LEAST = 8;

const LIVING = STATES.filter((state) => state !== 'deleted');

/** The segments of the bar, left to right; small ones are drawn larger than they are. */
export function sharesOf(counts: Counts): { state: State; x: number; width: number }[] {
  const present = LIVING.filter((state) => counts[state] > 0);
  const total = present.reduce((sum, state) => sum + counts[state], 0);
  const room = WIDTH - LEAST * present.length;
  let x = 0;
  return present.map((state) => {
    const share = { state, x, width: LEAST + (room * counts[state]) / total };
    x += share.width;
    return share;
  });
}

export function StateBar({ counts, className = '' }: { counts: Counts; className?: string }) {
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={`block h-3.5 w-full overflow-visible ${className}`}
      aria-hidden="true"
      focusable="false"
    >
      {sharesOf(counts).map(({ state, x, width }) => (
        <rect
          key={state}
          x={x}
          y={0.5}
          width={width}
          height={HEIGHT - 1}
          fill={`var(--${state})`}
          stroke="var(--ink)"
          strokeWidth={1}
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </svg>
  );
}

/** `tenant`: whose sandboxes are counted. `all`: shows states with no sandbox too. */
export function StateCounts({ counts, tenant, all = false }: { counts: Counts; tenant: string; all?: boolean }) {
  const shown = LIVING.filter((state) => all || counts[state] > 0);
  return (
    <ul className="flex flex-wrap gap-x-5 text-small">
      {shown.map((state) => (
        <li key={state} className="inline-flex min-h-6 items-center gap-1.5">
          <StateMark state={state} size={13} />
          {counts[state] === 0 ? (
            <span className="text-ink-3">0 {state}</span>
          ) : (
            <Link href={`/sandboxes?tenant=${tenant}&state=${state}`} prefetch={false}>
              {counts[state].toLocaleString('en')} {state}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}
