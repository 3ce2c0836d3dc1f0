'use client';
/**
 * The trade-off between process-hours and cold wakes, as a curve over thresholds. A slider moves along it; without
 * JavaScript the links in the table do.
 */
import { useState, useSyncExternalStore } from 'react';
import { thresholdInWords } from '../../../components/ui/durations.ts';
import {
  HEIGHT,
  hoursInFigures,
  type TradeLayout,
  type TradePoint,
  type TradeTally,
  tradeInWords,
  tradeLayout,
} from './trade-layout.ts';

function Grid({ wakes, hours }: Pick<TradeLayout, 'wakes' | 'hours'>) {
  return (
    <>
      {hours.map(({ at, value }, index) => (
        <g key={`hours ${value}`}>
          <line className="grid-line" x1="0" x2="100%" y1={at} y2={at} />
          <text x="0" y={at - 4}>
            {value.toLocaleString('en')} {index === hours.length - 1 ? 'process-hours' : ''}
          </text>
        </g>
      ))}
      {wakes.map(({ at, value }, index) => (
        <g key={`wakes ${value}`}>
          <line className="grid-line" x1={`${at}%`} x2={`${at}%`} y1={HEIGHT - 28} y2={HEIGHT - 20} />
          <text x={`${at}%`} y={HEIGHT - 6} textAnchor={at > 80 ? 'end' : index === 0 ? 'start' : 'middle'}>
            {value.toLocaleString('en')} {index === wakes.length - 1 ? 'cold wakes' : ''}
          </text>
        </g>
      ))}
    </>
  );
}

function Points({
  points,
  layout,
  chosen,
  present,
}: {
  points: readonly TradePoint[];
  layout: TradeLayout;
  chosen: number;
  present: number;
}) {
  return points.map(({ threshold }, index) => {
    const place = layout.points[index];
    if (place === undefined) return null;
    const far = place.x > 70;
    const isChosen = index === chosen;
    return (
      <g key={threshold}>
        <circle
          cx={`${place.x}%`}
          cy={place.y}
          r={isChosen ? 7 : index === present ? 5.5 : 3.5}
          fill={isChosen ? 'var(--active)' : index === present ? 'var(--suspended)' : 'var(--paper)'}
          stroke="var(--ink)"
          strokeWidth="1.25"
        />
        {place.label !== null && (
          <text
            className={isChosen || index === present ? 'strong' : undefined}
            x={`${place.x}%`}
            y={place.y + place.label}
            dx={far ? -6 : 6}
            textAnchor={far ? 'end' : 'start'}
          >
            {thresholdInWords(threshold)}
            {index === present ? ', now' : ''}
          </text>
        )}
      </g>
    );
  });
}

const never = () => () => {};

/** `points`: by threshold, the shortest first. `seconds`: the length of the period. */
export function TradeCurve({
  points,
  was,
  present,
  requested,
  seconds,
}: {
  points: readonly TradePoint[];
  was: TradeTally;
  /** The indexes of the present and of the requested threshold. */
  present: number;
  requested: number;
  seconds: number;
}) {
  const [chosen, choose] = useState(requested);
  const scripted = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const layout = tradeLayout(points, [chosen, present]);
  const point = points[chosen];
  if (point === undefined) return null;
  return (
    <div className="grid gap-4">
      <output className="block min-h-[3lh] max-w-3xl text-[1.0625rem]">{tradeInWords(point, was, seconds)}</output>
      <svg
        className="plot"
        height={HEIGHT}
        role="img"
        aria-label={`Process-hours against cold wakes: from ${hoursInFigures(points[0]?.would.process_hours ?? 0)} process-hours at the shortest threshold to ${hoursInFigures(points.at(-1)?.would.process_hours ?? 0)} at the longest. The table below has every number.`}
      >
        <Grid {...layout} />
        {layout.points.slice(1).map((to, index) => {
          const from = layout.points[index] ?? to;
          return (
            <line
              key={points[index]?.threshold}
              className="trade"
              x1={`${from.x}%`}
              y1={from.y}
              x2={`${to.x}%`}
              y2={to.y}
            />
          );
        })}
        <Points points={points} layout={layout} chosen={chosen} present={present} />
      </svg>
      <div className="min-h-12">
        {scripted ? (
          <label className="block max-w-xl">
            <span className="field-name">Suspend after {thresholdInWords(point.threshold)}</span>
            <input
              type="range"
              className="block w-full accent-ink"
              min={0}
              max={points.length - 1}
              step={1}
              value={chosen}
              aria-valuetext={thresholdInWords(point.threshold)}
              onChange={(event) => choose(Number(event.currentTarget.value))}
            />
          </label>
        ) : (
          <p className="text-small text-ink-3">Each threshold in the table below is a link to its point.</p>
        )}
      </div>
    </div>
  );
}
