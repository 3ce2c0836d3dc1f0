/** The life of a sandbox as bands of its states, with faults marked, and links that choose a part of it. */
import type { InstanceLife } from '#lib/contract/schema.ts';
import { StateMark } from '../sandbox/state-mark.tsx';
import { lengthInWords } from '../ui/durations.ts';
import { type SpanLink, SpanLinks } from './span-links.tsx';
import { bandsOf, timeInStates } from './time-layout.ts';

const HOPS_DRAWN = 60;
const figures = (count: number) => count.toLocaleString('en');

/** What the figure shows, in words: `3 days suspended, 2 hours active`. */
function lifeInWords(life: InstanceLife): string {
  return timeInStates(life)
    .map(({ state, seconds }) => `${lengthInWords(seconds)} ${state}`)
    .join(', ');
}

/** What is left out of the figure, or null when nothing is. */
function reductionInWords({ columns, stretches }: InstanceLife): string | null {
  if (stretches !== null) return null;
  const hops = columns.reduce((sum, column) => sum + column.hops, 0);
  const crowded = columns.filter(({ estimated }) => estimated).length;
  const rest = crowded === 0 ? '' : ` ${figures(crowded)} of them are estimated from their first lines.`;
  const about = crowded === 0 ? '' : 'about ';
  return `Too many to draw: ${about}${figures(hops)} hops are ${figures(columns.length)} columns, each with its time in each state.${rest} A shorter time shows each hop.`;
}

/** `ticks`: times that are marked at the lower edge; `marks`: times that are marked across. Epoch seconds. */
export function LifeStrip({
  life,
  spans,
  ticks = [],
  marks = [],
}: {
  life: InstanceLife;
  spans: readonly SpanLink[];
  ticks?: readonly number[];
  marks?: readonly number[];
}) {
  const reduced = reductionInWords(life);
  // More lines than these would hide the bands.
  const hops = life.hops !== null && life.hops.length <= HOPS_DRAWN ? life.hops : [];
  const faults = life.columns.filter((column) => column.faults.length > 0);
  const isShown = (time: number) => time >= life.from && time <= life.to;
  const share = (time: number) => ((time - life.from) / (life.to - life.from)) * 1000;
  return (
    <div>
      <div className="relative h-20 border border-ink">
        <svg
          viewBox="0 0 1000 1000"
          preserveAspectRatio="none"
          className="block h-full w-full"
          role="img"
          aria-label={lifeInWords(life)}
        >
          {bandsOf(life).map(({ state, x, y, width, height }) => (
            <rect key={`${x} ${y}`} x={x} y={y} width={width} height={height} fill={`var(--${state})`} />
          ))}
          {hops.map(({ time, from, to }, n) => (
            <line
              // Several hops may be of one moment.
              key={`${n} ${from} ${to}`}
              x1={share(time)}
              x2={share(time)}
              y1={0}
              y2={1000}
              stroke="var(--ink)"
              strokeWidth={1}
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {faults.map(({ from }) => (
            <rect key={from} x={share(from)} y={0} width={5} height={240} fill="var(--fault)" />
          ))}
          <path
            d={ticks
              .filter(isShown)
              .map((time) => `M${share(time).toFixed(2)} 1000v-200`)
              .join('')}
            stroke="var(--on-colour)"
            strokeWidth={1}
            vectorEffect="non-scaling-stroke"
          />
          {marks.filter(isShown).map((time) => (
            <line
              key={time}
              x1={share(time)}
              x2={share(time)}
              y1={0}
              y2={1000}
              stroke="var(--on-colour)"
              strokeWidth={4}
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </svg>
        <SpanLinks label="Parts of this time" spans={spans} />
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-small">
        {timeInStates(life).map(({ state, seconds }) => (
          <li key={state} className="inline-flex items-center gap-1.5">
            <StateMark state={state} size={13} />
            {lengthInWords(seconds)} {state}
          </li>
        ))}
        {faults.length > 0 && (
          <li className="text-fault-ink">
            Faults: {[...new Set(faults.flatMap((column) => column.faults))].join(', ')}
          </li>
        )}
      </ul>
      {reduced !== null && <p className="mt-2 max-w-3xl text-small text-ink-2">{reduced}</p>}
    </div>
  );
}
