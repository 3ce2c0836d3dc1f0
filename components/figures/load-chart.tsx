/** One chart of load: its name, what is read from it, its lines, and the life of what is measured behind them. */
import type { State } from '#lib/lifecycle/state-map.ts';
import {
  type CHARTS,
  greatestOf,
  type LoadPoint,
  linePath,
  marksOf,
  type ShownTime,
  shareOfTime,
  valueInWords,
  WHOLE,
} from './load-layout.ts';

/** A time in one state, or of columns a part of it: `top` and `height` in thousandths. */
export interface LifeBand extends ShownTime {
  state: State;
  top: number;
  height: number;
}

/** `read`: the point whose values are shown; null: nothing was measured there; undefined: none is shown. */
export function LoadChart({
  chart,
  points,
  step,
  span,
  bands,
  read,
}: {
  chart: (typeof CHARTS)[number];
  points: readonly LoadPoint[];
  step: number;
  span: ShownTime;
  bands: readonly LifeBand[];
  read: LoadPoint | null | undefined;
}) {
  const most = greatestOf(chart, points, step);
  const says = read === null || read === undefined ? null : valueInWords(chart, read, step);
  const scale = { span, step, most: most ?? 0 };
  const x = (time: number) => shareOfTime(time, span) * WHOLE;
  return (
    <figure className="grid gap-1">
      <figcaption className="flex items-baseline justify-between gap-x-4 text-small">
        <span className="min-w-0 truncate">
          <span className="font-[520]">{chart.name}</span>{' '}
          <span className="tabular-nums">
            {says ?? (read !== undefined && <span className="text-ink-3">not measured</span>)}
          </span>
        </span>
        <span className="shrink-0 text-ink-3 tabular-nums max-sm:hidden">
          {most !== null && most > 0 && `most ${chart.inWords(most)}`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WHOLE} ${WHOLE}`}
        preserveAspectRatio="none"
        className="block h-14 w-full overflow-hidden border-b border-rule-2"
        aria-hidden="true"
        focusable="false"
      >
        {bands.map(({ state, from, to, top, height }) => (
          <rect
            key={`${from} ${top}`}
            x={x(from)}
            y={top}
            width={Math.max(0, x(to) - x(from))}
            height={height}
            fill={`var(--${state})`}
            opacity={0.22}
          />
        ))}
        <path
          d={marksOf(span)
            .map((time) => `M${x(time)} 0V${WHOLE}`)
            .join('')}
          stroke="var(--rule-2)"
          vectorEffect="non-scaling-stroke"
        />
        {chart.lines.map((line, n) => (
          <g key={line.name}>
            {n === 0 && <path d={linePath(points, line, { ...scale, area: true })} fill="var(--ink)" opacity={0.14} />}
            <path
              d={linePath(points, line, scale)}
              fill="none"
              stroke="var(--ink)"
              strokeWidth={1.5}
              strokeDasharray={n === 0 ? undefined : '3 3'}
              vectorEffect="non-scaling-stroke"
            />
          </g>
        ))}
      </svg>
    </figure>
  );
}
