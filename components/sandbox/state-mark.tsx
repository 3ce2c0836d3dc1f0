/**
 * The icon of a state: a colour and a shape of its own, so that each works without the other. Decorative: the name
 * stands beside it.
 */
import type { State } from '#lib/lifecycle/state-map.ts';
import type { Fault } from '#lib/lifecycle/words.ts';

/** Outlines take the text colour. Strokes on a coloured shape are always ink. */
const outline = { stroke: 'currentColor', strokeWidth: 1.25 } as const;
const inside = { stroke: 'var(--on-colour)', strokeWidth: 1.25 } as const;

function shape(state: State, warm: boolean) {
  switch (state) {
    case 'created':
      return <circle cx="8" cy="8" r="6" fill="none" strokeDasharray="2.6 2.1" {...outline} />;
    case 'active':
      return (
        <>
          <circle cx="8" cy="8" r="6" fill="var(--active)" {...outline} />
          {warm && <path d="M6.4 5.4v5.2M9.6 5.4v5.2" {...inside} strokeWidth={1.5} />}
        </>
      );
    case 'suspended':
      return (
        <>
          <circle cx="8" cy="8" r="6" fill="var(--suspended)" {...outline} />
          <path d="M8 2a6 6 0 0 1 0 12z" fill="var(--on-colour)" />
        </>
      );
    case 'frozen':
      return (
        <>
          <path
            d="M8 1.5 13.6 4.75v6.5L8 14.5 2.4 11.25v-6.5z"
            fill="var(--frozen)"
            strokeLinejoin="round"
            {...outline}
          />
          <path d="M8 5v6M5.4 6.5l5.2 3M10.6 6.5l-5.2 3" {...inside} strokeWidth={1} />
        </>
      );
    case 'archived':
      return (
        <>
          <rect x="2" y="2.5" width="12" height="11" rx="1.5" fill="var(--archived)" {...outline} />
          <path d="M2 7h12M6.5 9.75h3" {...inside} />
        </>
      );
    case 'deleted':
      return (
        <>
          <circle cx="8" cy="8" r="6" fill="none" {...outline} />
          <path d="M3.8 12.2 12.2 3.8" {...outline} />
        </>
      );
  }
}

export function StateMark({
  state,
  fault = null,
  warm = false,
  size = 16,
  x,
  y,
  className,
}: {
  state: State;
  fault?: Fault | null;
  /** The process of an active one is paused: two bars inside. */
  warm?: boolean;
  /** Pixels, or units of the drawing that contains it. */
  size?: number;
  x?: number;
  y?: number;
  className?: string;
}) {
  return (
    <svg
      x={x}
      y={y}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={className}
      focusable="false"
    >
      {fault === null ? (
        shape(state, warm)
      ) : (
        <>
          <path d="M8 1.8 15 14H1z" fill="var(--fault)" strokeLinejoin="round" {...outline} />
          <path d="M8 6v4M8 11.4v1.2" stroke="var(--fault-sign)" strokeWidth="1.5" />
        </>
      )}
    </svg>
  );
}
