import { expect, test } from 'vitest';
import { HOPS, STATES, TRANSITIONS } from '#lib/lifecycle/state-map.ts';
import { type Box, type DiagramLayout, type Edge, edgesOf, TALL, WIDE } from './diagram-layout.ts';

const layouts: [string, DiagramLayout][] = [
  ['lying down', WIDE],
  ['upright', TALL],
];

/** Whether a straight edge passes through the inside of a box. */
function crosses({ start, end }: Edge, box: Box): boolean {
  const left = Math.min(start.x, end.x);
  const right = Math.max(start.x, end.x);
  const top = Math.min(start.y, end.y);
  const bottom = Math.max(start.y, end.y);
  return left < box.x + box.width && right > box.x && top < box.y + box.height && bottom > box.y;
}

test.each(layouts)('the diagram %s draws every hop of the map once and nothing else', (_name, layout) => {
  const drawn = edgesOf(layout).map(({ from, to }) => `${from} ${to}`);
  const map = STATES.flatMap((from) => TRANSITIONS[from].map((to) => `${from} ${to}`));
  expect(drawn.toSorted()).toEqual(map.toSorted());
  expect(HOPS.length).toBe(map.length);
});

test.each(layouts)('in the diagram %s no hop passes through a state, and no two share a line', (_name, layout) => {
  const edges = edgesOf(layout);
  for (const edge of edges) {
    for (const state of STATES)
      expect(crosses(edge, layout.nodes[state]), `${edge.from} ${edge.to} ${state}`).toBe(false);
  }
  const lines = edges.map(({ start, end }) => [start.x + end.x, start.y + end.y].join());
  expect(new Set(lines).size).toBe(lines.length);
});

test.each(layouts)('the diagram %s keeps every state and hop inside its frame', (_name, layout) => {
  for (const { x, y, width, height } of Object.values(layout.nodes)) {
    expect(x).toBeGreaterThanOrEqual(0);
    expect(y).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(layout.width);
    expect(y + height).toBeLessThanOrEqual(layout.height);
  }
});
