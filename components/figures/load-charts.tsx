'use client';
/**
 * The charts of load, one below the other over the same time: a crosshair reads all of them at once, by the pointer or
 * the arrow keys, and a part that is dragged is shown larger. Without JavaScript they stand as the server drew them.
 */
import { useRouter } from 'next/navigation';
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import type { InstanceLoad } from '#lib/contract/schema.ts';
import type { MarkedCall } from '../calls/call-mark.ts';
import { lengthInWords } from '../ui/durations.ts';
import { useZone } from '../ui/zone.tsx';
import { axisSpan, secondOfDay, spokenMoment } from '../ui/zones.ts';
import { type LifeBand, LoadChart } from './load-chart.tsx';
import { CHARTS, pointAt, type ShownTime, shareOfTime, spanBetween, valueInWords } from './load-layout.ts';
import { LoadTable } from './load-table.tsx';
import { TimeAxis } from './series-bars.tsx';
import { useFollowedLoad } from './use-followed-load.ts';

/** Seconds: the shortest time that is shown larger. */
const LEAST = 60;
const DAY = 86_400;
/** Pixels: what moves by less was pressed and not dragged. */
const DRAGGED = 6;
/** Steps that Page Up and Page Down go. */
const PAGE = 10;

/** How far a key moves the crosshair, in steps; null: it is not its key. */
function stepsOf(key: string): number | null {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return -1;
  if (key === 'ArrowRight' || key === 'ArrowUp') return 1;
  if (key === 'PageUp') return PAGE;
  if (key === 'PageDown') return -PAGE;
  if (key === 'Home') return Number.NEGATIVE_INFINITY;
  return key === 'End' ? Number.POSITIVE_INFINITY : null;
}

/**
 * `path`: of the API, without its query. `exported`: the call that saves it. `isLive`: the shown time ends now.
 * `larger`: the address that shows a part, with `BEGIN` and `END` in it.
 */
export function LoadCharts({
  load: firstLoad,
  shown: firstShown,
  bands,
  path,
  exported,
  isLive,
  isGrowing,
  larger,
}: {
  load: InstanceLoad;
  shown: ShownTime;
  bands: readonly LifeBand[];
  path: string;
  exported: Pick<MarkedCall, 'name' | 'path'>;
  isLive: boolean;
  isGrowing: boolean;
  larger: string;
}) {
  const zone = useZone();
  const router = useRouter();
  const [at, setAt] = useState<number | null>(null);
  const [anchor, setAnchor] = useState<number | null>(null);
  const pressed = useRef<{ x: number; time: number } | null>(null);
  const { load, shown } = useFollowedLoad(
    { load: firstLoad, shown: firstShown },
    { path: isLive ? path : null, isGrowing, isHeld: at !== null || anchor !== null },
  );
  const { points, step } = load;
  const last = shown.to - 1;
  const read = at === null ? (points.at(-1) ?? null) : pointAt(points, step, at);
  // The state goes on until it is told otherwise.
  const drawn = bands.map((band) => (isLive && band.to >= firstShown.to - 1 ? { ...band, to: shown.to } : band));
  const momentOf = (time: number) =>
    shown.to - shown.from > DAY ? spokenMoment(time, zone) : secondOfDay(Math.floor(time), zone);
  const stateAt = (time: number) => drawn.find(({ from, to }) => from <= time && time < to)?.state ?? null;
  const part = at !== null && anchor !== null && at !== anchor ? spanBetween(anchor, at, 1, shown) : null;

  const show = (one: number, other: number) => {
    const { from, to } = spanBetween(one, other, LEAST, shown);
    router.push(larger.replace('BEGIN', String(from)).replace('END', String(to)), { scroll: false });
    setAnchor(null);
    setAt(null);
  };
  const timeOf = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
    return Math.min(last, shown.from + share * (shown.to - shown.from));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape' && at !== null) {
      setAnchor(null);
      setAt(null);
    } else if (event.key === 'Enter' && part !== null) show(part.from, part.to);
    else {
      const steps = stepsOf(event.key);
      if (steps === null) return;
      const from = at ?? last;
      if (event.shiftKey && anchor === null) setAnchor(from);
      if (!event.shiftKey) setAnchor(null);
      setAt(Math.min(last, Math.max(shown.from, from + steps * step)));
    }
    event.preventDefault();
  };
  const readInWords = (time: number) => {
    const point = pointAt(points, step, time);
    const values = CHARTS.flatMap((chart) => {
      const words = point === null ? null : valueInWords(chart, point, step);
      return words === null ? [] : [`${chart.name} ${words}`];
    });
    return [momentOf(time), stateAt(time) ?? '', values.length === 0 ? 'not measured' : values.join(', ')]
      .filter(Boolean)
      .join(', ');
  };

  return (
    <div>
      <p className="mb-2 min-h-[1.5em] text-small text-ink-2 tabular-nums" aria-hidden={at !== null}>
        {part !== null ? (
          <>
            {axisSpan(part.from, part.to, zone, part.to - part.from)}: {lengthInWords(part.to - part.from)}
          </>
        ) : at !== null ? (
          <>
            {momentOf(at)} {stateAt(at) !== null && `· ${stateAt(at)}`}
          </>
        ) : (
          <>
            {step < 60 ? 'Each ' : 'By '}
            {step === 10 ? 'ten seconds' : lengthInWords(step)}
            {isLive && ', as it goes on'}. Point at a moment to read it; drag to show a part larger.
          </>
        )}
      </p>
      <div className="relative">
        <div className="grid gap-3">
          {CHARTS.map((chart) => (
            <LoadChart
              key={chart.name}
              chart={chart}
              points={points}
              step={step}
              span={shown}
              bands={drawn}
              read={at === null && !isLive ? undefined : read}
            />
          ))}
        </div>
        <div
          role="slider"
          tabIndex={0}
          aria-label="Moment that is read"
          aria-description="Arrow keys read other moments, with Shift a part, which Enter shows larger."
          aria-valuemin={shown.from}
          aria-valuemax={last}
          aria-valuenow={Math.floor(at ?? last)}
          aria-valuetext={readInWords(at ?? last)}
          className="absolute inset-0 cursor-crosshair touch-pan-y select-none"
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            const time = timeOf(event);
            pressed.current = { x: event.clientX, time };
            setAnchor(null);
            setAt(time);
          }}
          onPointerMove={(event) => {
            setAt(timeOf(event));
            const begun = pressed.current;
            if (begun !== null) setAnchor(Math.abs(event.clientX - begun.x) < DRAGGED ? null : begun.time);
          }}
          onPointerUp={(event) => {
            const begun = pressed.current;
            pressed.current = null;
            if (begun !== null && Math.abs(event.clientX - begun.x) >= DRAGGED) show(begun.time, timeOf(event));
          }}
          onPointerCancel={() => {
            pressed.current = null;
            setAnchor(null);
            setAt(null);
          }}
          onPointerLeave={(event) => {
            if (pressed.current === null && event.pointerType === 'mouse') setAt(null);
          }}
          onBlur={() => {
            setAnchor(null);
            setAt(null);
          }}
        >
          {part !== null && (
            <div
              className="absolute inset-y-0 border-x border-ink bg-ink/10"
              style={{
                left: `${shareOfTime(part.from, shown) * 100}%`,
                width: `${(shareOfTime(part.to, shown) - shareOfTime(part.from, shown)) * 100}%`,
              }}
            />
          )}
          {at !== null && (
            <div className="absolute inset-y-0 w-px bg-ink" style={{ left: `${shareOfTime(at, shown) * 100}%` }} />
          )}
        </div>
      </div>
      <TimeAxis from={shown.from} to={shown.to} zone={zone} />
      <LoadTable
        points={points}
        step={step}
        zone={zone}
        address={`${path}/export`}
        exported={{ ...exported, query: { from: shown.from, to: last, step } }}
      />
    </div>
  );
}
