/**
 * Positions of the state diagram's nodes and edges, in two layouts. Every hop is a straight line between facing sides;
 * two opposite hops run side by side. Pure; the hops come from the state map.
 */
import { HOPS, type State } from '#lib/lifecycle/state-map.ts';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DiagramLayout {
  width: number;
  height: number;
  nodes: Readonly<Record<State, Box>>;
  /** Distance of each of two opposite hops from the middle. */
  lane: number;
}

/** Active is the quay along the top; the states of sleep are drawers below it. */
export const WIDE: DiagramLayout = {
  width: 1216,
  height: 364,
  lane: 26,
  nodes: {
    created: { x: 1, y: 2, width: 150, height: 106 },
    active: { x: 256, y: 2, width: 732, height: 106 },
    suspended: { x: 256, y: 256, width: 176, height: 106 },
    frozen: { x: 534, y: 256, width: 176, height: 106 },
    archived: { x: 812, y: 256, width: 176, height: 106 },
    deleted: { x: 1089, y: 256, width: 126, height: 106 },
  },
};

/** The same, turned by 90 degrees, for narrow pages and for the page of one sandbox. */
export const TALL: DiagramLayout = {
  width: 360,
  height: 550,
  lane: 15,
  nodes: {
    created: { x: 1, y: 1, width: 100, height: 62 },
    active: { x: 1, y: 116, width: 100, height: 314 },
    suspended: { x: 221, y: 116, width: 138, height: 66 },
    frozen: { x: 221, y: 240, width: 138, height: 66 },
    archived: { x: 221, y: 364, width: 138, height: 66 },
    deleted: { x: 221, y: 487, width: 138, height: 62 },
  },
};

export interface Edge {
  from: State;
  to: State;
  auto: boolean;
  label: string;
  start: { x: number; y: number };
  end: { x: number; y: number };
  /** Unit vector of the hop. */
  direction: { x: number; y: number };
  text: { x: number; y: number; anchor: 'start' | 'middle' | 'end' };
}

const GAP = 3;

function edgeOf(layout: DiagramLayout, hop: (typeof HOPS)[number]): Edge {
  const a = layout.nodes[hop.from];
  const b = layout.nodes[hop.to];
  const twoWay = HOPS.some((other) => other.from === hop.to && other.to === hop.from);
  const left = Math.max(a.x, b.x);
  const right = Math.min(a.x + a.width, b.x + b.width);
  if (right > left) {
    const down = b.y > a.y;
    const shift = twoWay ? (down ? -layout.lane : layout.lane) : 0;
    const x = (left + right) / 2 + shift;
    const start = { x, y: down ? a.y + a.height + GAP : a.y - GAP };
    const end = { x, y: down ? b.y - GAP : b.y + b.height + GAP };
    const before = twoWay ? down : x > layout.width / 2;
    return {
      ...hop,
      start,
      end,
      direction: { x: 0, y: down ? 1 : -1 },
      text: { x: before ? x - 9 : x + 9, y: (start.y + end.y) / 2 + 4, anchor: before ? 'end' : 'start' },
    };
  }
  const top = Math.max(a.y, b.y);
  const bottom = Math.min(a.y + a.height, b.y + b.height);
  const forward = b.x > a.x;
  const y = (top + bottom) / 2 + (twoWay ? (forward ? -layout.lane : layout.lane) : 0);
  const start = { x: forward ? a.x + a.width + GAP : a.x - GAP, y };
  const end = { x: forward ? b.x - GAP : b.x + b.width + GAP, y };
  const below = twoWay && !forward;
  return {
    ...hop,
    start,
    end,
    direction: { x: forward ? 1 : -1, y: 0 },
    text: { x: (start.x + end.x) / 2, y: below ? y + 18 : y - 8, anchor: 'middle' },
  };
}

/** Every hop of the state map as a line in this layout. */
export function edgesOf(layout: DiagramLayout): Edge[] {
  return HOPS.map((hop) => edgeOf(layout, hop));
}
