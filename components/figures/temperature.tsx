/**
 * The temperature inside the active node of the state diagram: hot runs, warm is paused in memory. Of one sandbox the
 * present one is lit; of all sandboxes each has its count.
 */
import type { Box } from './diagram-layout.ts';

/** The two temperatures of an active sandbox, in the order of cooling. */
const TEMPERATURES = ['hot', 'warm'] as const;
export type Temperature = (typeof TEMPERATURES)[number];

const ROW = 24;
const ICON = 12;

/** A dot for a process that runs, two bars for one that is paused. */
function TemperatureIcon({ of, x, y }: { of: Temperature; x: number; y: number }) {
  return of === 'hot' ? (
    <circle cx={x + 4} cy={y} r={3.5} fill="currentColor" />
  ) : (
    <path d={`M${x + 2} ${y - 4}v8M${x + 6} ${y - 4}v8`} stroke="currentColor" strokeWidth={2} />
  );
}

/** Of one sandbox: `current` is lit. `box`: the upright node. */
export function TemperatureScale({ box, current }: { box: Box; current: Temperature }) {
  const left = box.x + 10;
  return (
    <g color="var(--on-colour)">
      {TEMPERATURES.map((temperature, row) => {
        const top = box.y + 46 + row * (ROW + 4);
        const lit = temperature === current;
        return (
          <g key={temperature}>
            <rect
              x={left}
              y={top}
              width={box.width - 20}
              height={ROW}
              rx={ROW / 2}
              fill={lit ? 'var(--on-colour)' : 'none'}
              stroke="var(--on-colour)"
              strokeDasharray={lit ? undefined : '3 2.5'}
            />
            <g color={lit ? 'var(--active)' : 'var(--on-colour)'}>
              <TemperatureIcon of={temperature} x={left + 12} y={top + ROW / 2} />
              <text
                x={left + 12 + ICON + 4}
                y={top + ROW / 2 + 4.5}
                fontSize={13}
                fontWeight={lit ? 580 : 420}
                fill="currentColor"
              >
                {temperature}
              </text>
            </g>
          </g>
        );
      })}
    </g>
  );
}

/** How many of the active are hot and warm: `180 hot`, `20 warm`. */
export function temperatureCounts(active: number, warm: number): Record<Temperature, string> {
  const paused = Math.min(active, warm);
  return { hot: `${(active - paused).toLocaleString('en')} hot`, warm: `${paused.toLocaleString('en')} warm` };
}

/** Of all sandboxes, with counts: side by side at the right of a wide node, below each other in an upright one. */
export function TemperatureCounts({
  box,
  active,
  warm,
  wide,
}: {
  box: Box;
  active: number;
  warm: number;
  wide: boolean;
}) {
  const words = temperatureCounts(active, warm);
  return (
    <g color="var(--on-colour)">
      {TEMPERATURES.map((temperature, place) => {
        const x = wide ? box.x + box.width - 16 - (TEMPERATURES.length - place) * 108 : box.x + 12;
        const y = box.y + (wide ? 30 : 100 + place * ROW);
        return (
          <g key={temperature}>
            <TemperatureIcon of={temperature} x={x} y={y - 4.5} />
            <text x={x + ICON + 3} y={y} fontSize={wide ? 13.5 : 13} fill="currentColor">
              {words[temperature]}
            </text>
          </g>
        );
      })}
    </g>
  );
}
