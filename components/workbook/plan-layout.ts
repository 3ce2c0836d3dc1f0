/**
 * Positions of a workbook's plan: each world is a box around its components and nested worlds. In layers (by dagre, one
 * world at a time, the inner ones first), and in one column for narrow places. For the server: browsers get the result.
 */
import { Graph, layout } from '@dagrejs/dagre';
import type { PlanComponent, PlanWorld, WorkbookPlan } from '#lib/contract/schema.ts';
import type { Place, PlacedComponent, PlacedEdge, PlacedWorld, PlanDrawing, PlanLayout } from './plan-drawing.ts';
import { sortedByDependency } from './plan-order.ts';

/** Larger plans are drawn in a column only, and still larger ones are only listed: nobody reads such a drawing. */
const MOST_IN_LAYERS = 60;
const MOST_IN_COLUMN = 400;
const LISTED = 1000;

const BOX = { width: 208, height: 54 } as const;
const WORLD = { inset: 14, head: 34, ports: 18, least: 236 } as const;
const GAP = { between: 22, layers: 40, worlds: 18 } as const;
/** Width of a letter of a label, in drawing units. */
const LABEL_LETTER = 6.4;
const LABEL_HEIGHT = 14;
const COLUMN_WIDTH = 350;
const COLUMN = { gap: 22, inset: 10, lane: 9, lanes: 6 } as const;
/** In a column, worlds that are nested deeper than this have hardly a margin: the boxes need the room. */
const ROOMY_DEPTH = 4;
/** Room for strokes around everything. */
const EDGE = 2;

interface Item {
  name: string;
  path: string;
  component: PlanComponent | null;
  inner: PlanLayout | null;
}

/** Edges of one world, one for each pair of siblings, with the names of what goes over it. */
function edgesOf(world: PlanWorld, known: ReadonlySet<string>): { from: string; to: string; names: string[] }[] {
  const byPair = new Map<string, { from: string; to: string; names: string[] }>();
  for (const { from, to, name } of world.edges) {
    if (from === to || !known.has(from) || !known.has(to)) continue;
    const key = `${from} ${to}`;
    const edge = byPair.get(key) ?? { from, to, names: [] };
    byPair.set(key, edge);
    if (name !== undefined) edge.names.push(name);
  }
  return [...byPair.values()];
}

function placedComponent(component: PlanComponent, place: Place): PlacedComponent {
  const { name, path, lang, deps, uses, persist, schedule, line } = component;
  return { ...place, name, path, lang, deps, uses, in: component.in, out: component.out, persist, schedule, line };
}

function placedWorld(world: PlanWorld, depth: number, place: Place): PlacedWorld {
  const { name, path, deps, schedule, imports, exports, line } = world;
  return { ...place, name, path, depth, deps, schedule, imports, exports, line };
}

function headOf({ imports, exports, schedule }: PlanWorld): number {
  return WORLD.head + (imports.length + exports.length > 0 ? WORLD.ports : 0) + (schedule === null ? 0 : WORLD.ports);
}

function shifted(inner: PlanLayout, x: number, y: number): PlanLayout {
  return {
    ...inner,
    worlds: inner.worlds.map((world) => ({ ...world, x: world.x + x, y: world.y + y })),
    components: inner.components.map((component) => ({ ...component, x: component.x + x, y: component.y + y })),
    edges: inner.edges.map((edge) => ({
      ...edge,
      path: edge.path.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, px, py) => point(Number(px) + x, Number(py) + y)),
      tip: { ...edge.tip, x: edge.tip.x + x, y: edge.tip.y + y },
      label: edge.label && { x: edge.label.x + x, y: edge.label.y + y },
    })),
  };
}

function point(x: number, y: number): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}

interface Point {
  x: number;
  y: number;
}

/** Whether those beside each other stand in the opposite of the order of the source. */
function isBackwards(nodes: readonly { x?: number; y?: number }[]): boolean {
  const first = nodes[0];
  const last = nodes.findLast(({ y }) => y === first?.y);
  return (first?.x ?? 0) > (last?.x ?? 0);
}

/** Keeps an end of an edge on the side of its box, away from the corners. */
function within(x: number, centre: number, width: number): number {
  const most = width / 2 - 18;
  return Math.min(Math.max(x, centre - most), centre + most);
}

/** A smooth line through the points that dagre found. */
function curveThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const last = rest.at(-1) ?? first;
  const middles = rest.slice(0, -1).map((here, index) => {
    const next = rest[index + 1] ?? last;
    return `Q${point(here.x, here.y)} ${point((here.x + next.x) / 2, (here.y + next.y) / 2)}`;
  });
  return `M${point(first.x, first.y)}${middles.join('')}L${point(last.x, last.y)}`;
}

function itemsOf(world: PlanWorld, inner: (nested: PlanWorld) => PlanLayout): Item[] {
  return [
    ...world.components.map((component) => ({ name: component.name, path: component.path, component, inner: null })),
    ...world.workflows.map((nested) => ({
      name: nested.name,
      path: nested.path,
      component: null,
      inner: inner(nested),
    })),
  ];
}

function worldInLayers(world: PlanWorld, depth: number): PlanLayout {
  const items = itemsOf(world, (nested) => worldInLayers(nested, depth + 1));
  const edges = edgesOf(world, new Set(items.map(({ name }) => name)));
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: GAP.between, ranksep: GAP.layers, marginx: 0, marginy: 0 });
  for (const { name, inner } of items) {
    graph.setNode(name, { width: inner?.width ?? BOX.width, height: inner?.height ?? BOX.height });
  }
  for (const { from, to, names } of edges) {
    const width = names.join(', ').length * LABEL_LETTER;
    graph.setEdge(from, to, width === 0 ? {} : { width, height: LABEL_HEIGHT, labelpos: 'c' });
  }
  if (items.length > 0) layout(graph);
  const head = headOf(world);
  const size = items.length === 0 ? { width: 0, height: 0 } : graph.graph();
  const width = Math.max(WORLD.least, (size.width ?? 0) + 2 * WORLD.inset);
  const height = head + (size.height ?? 0) + WORLD.inset;
  const left = (width - (size.width ?? 0)) / 2;
  const isMirrored = isBackwards(items.map(({ name }) => graph.node(name)));
  const across = (x: number) => (isMirrored ? (size.width ?? 0) - x : x);
  const result: PlanLayout = {
    width,
    height,
    worlds: [placedWorld(world, depth, { x: 0, y: 0, width, height })],
    components: [],
    edges: [],
  };
  for (const { name, component, inner } of items) {
    const node = graph.node(name);
    const x = left + across(node.x ?? 0) - node.width / 2;
    const y = head + (node.y ?? 0) - node.height / 2;
    if (component !== null) result.components.push(placedComponent(component, { x, y, ...BOX }));
    if (inner !== null) add(result, shifted(inner, x, y));
  }
  const pathOf = new Map(items.map(({ name, path }) => [name, path]));
  for (const { from, to, names } of edges) {
    const { points = [], x, y } = graph.edge(from, to);
    const [start, end] = [graph.node(from), graph.node(to)];
    const line = points.map((each: Point) => ({ x: left + across(each.x), y: head + each.y }));
    const first = line[0] ?? { x: 0, y: 0 };
    const tip = line.at(-1) ?? first;
    line[0] = {
      x: within(first.x, left + across(start.x ?? 0), start.width),
      y: head + (start.y ?? 0) + start.height / 2,
    };
    const last = { x: within(tip.x, left + across(end.x ?? 0), end.width), y: head + (end.y ?? 0) - end.height / 2 };
    line[Math.max(1, line.length - 1)] = last;
    result.edges.push({
      from: pathOf.get(from) ?? from,
      to: pathOf.get(to) ?? to,
      names,
      path: curveThrough(line),
      tip: { ...last, towards: 'down' },
      label: names.length === 0 || x === undefined || y === undefined ? null : { x: left + across(x), y: head + y },
    });
  }
  return result;
}

function add(result: PlanLayout, inner: PlanLayout): void {
  result.worlds.push(...inner.worlds);
  result.components.push(...inner.components);
  result.edges.push(...inner.edges);
}

/** Which lane of the margin each edge takes, so that those that run side by side do not lie on each other. */
function lanesFor(spans: readonly { from: number; to: number }[]): number[] {
  const ends: number[] = [];
  return spans.map(({ from, to }) => {
    const free = ends.findIndex((end) => end <= from);
    const lane = free === -1 ? Math.min(ends.length, COLUMN.lanes - 1) : free;
    ends[lane] = Math.max(ends[lane] ?? 0, to);
    return lane;
  });
}

function worldInColumn(world: PlanWorld, depth: number, width: number): PlanLayout {
  const names = sortedByDependency(world);
  const at = new Map(names.map((name, index) => [name, index]));
  const edges = edgesOf(world, new Set(names))
    .map(({ from, to, names: over }) => ({ names: over, from: at.get(from) ?? 0, to: at.get(to) ?? 0 }))
    .sort((one, other) => one.from - other.from || one.to - other.to);
  const long = edges.filter(({ from, to }) => to !== from + 1);
  const lanes = lanesFor(long);
  const isRoomy = depth <= ROOMY_DEPTH;
  const inset = isRoomy ? COLUMN.inset - depth : 2;
  const laneWidth = isRoomy ? COLUMN.lane : 3;
  const margin = long.length === 0 ? 0 : (Math.max(...lanes) + 1) * laneWidth + 3;
  const left = inset + margin;
  const inside = width - left - inset;
  const items = new Map(
    itemsOf(world, (nested) => worldInColumn(nested, depth + 1, inside)).map((item) => [item.name, item]),
  );
  const result: PlanLayout = { width, height: 0, worlds: [], components: [], edges: [] };
  const places: Place[] = [];
  let y = headOf(world);
  for (const name of names) {
    const { component, inner } = items.get(name) ?? { component: null, inner: null };
    const place = { x: left, y, width: inside, height: inner?.height ?? BOX.height };
    places.push(place);
    if (component !== null) result.components.push(placedComponent(component, place));
    if (inner !== null) add(result, shifted(inner, left, y));
    y += place.height + COLUMN.gap;
  }
  result.height = names.length === 0 ? y : y - COLUMN.gap + inset;
  result.worlds.unshift(placedWorld(world, depth, { x: 0, y: 0, width, height: result.height }));
  const pathOf = (index: number) => items.get(names[index] ?? '')?.path ?? '';
  const joined = (from: number, to: number, over: string[], lane: number | null): PlacedEdge => {
    const start = places[from] ?? { x: 0, y: 0, width: 0, height: 0 };
    const end = places[to] ?? start;
    const both = { from: pathOf(from), to: pathOf(to), names: over };
    if (lane === null) {
      const x = start.x + 24;
      const tip = { x, y: end.y, towards: 'down' as const };
      const path = `M${point(x, start.y + start.height)}L${point(x, end.y)}`;
      const room =
        over.length === 0 ? null : { x: x + 10 + (over.join(', ').length * LABEL_LETTER) / 2, y: end.y - 11 };
      return { ...both, path, tip, label: room };
    }
    const x = left - 3 - lane * laneWidth;
    const from_y = start.y + start.height - 12;
    const to_y = end.y + 14;
    const path = `M${point(start.x, from_y)}L${point(x, from_y)}L${point(x, to_y)}L${point(end.x, to_y)}`;
    return { ...both, path, tip: { x: end.x, y: to_y, towards: 'right' }, label: null };
  };
  for (const { from, to, names: over } of edges) {
    const index = long.findIndex((each) => each.from === from && each.to === to);
    result.edges.push(joined(from, to, over, index === -1 ? null : (lanes[index] ?? 0)));
  }
  return result;
}

/** Worlds below each other. */
function stacked(worlds: readonly PlanLayout[]): PlanLayout {
  const result: PlanLayout = { width: 0, height: EDGE, worlds: [], components: [], edges: [] };
  for (const world of worlds) {
    add(result, shifted(world, EDGE, result.height));
    result.width = Math.max(result.width, world.width + 2 * EDGE);
    result.height += world.height + GAP.worlds;
  }
  result.height += EDGE - GAP.worlds;
  return result;
}

function countIn(worlds: readonly PlanWorld[]): number {
  return worlds.reduce((sum, { components, workflows }) => sum + components.length + countIn(workflows), 0);
}

function listedIn(worlds: readonly PlanWorld[], depth: number, into: PlanDrawing['listed']): PlanDrawing['listed'] {
  const nowhere = { x: 0, y: 0, width: 0, height: 0 };
  for (const world of worlds) {
    if (into.components.length >= LISTED) break;
    into.worlds.push(placedWorld(world, depth, nowhere));
    for (const component of world.components.slice(0, LISTED - into.components.length)) {
      into.components.push(placedComponent(component, nowhere));
    }
    listedIn(world.workflows, depth + 1, into);
  }
  return into;
}

/** The plan with positions. A plan that is too large is only listed. */
export function layoutPlan({ worlds }: WorkbookPlan): PlanDrawing {
  const count = countIn(worlds);
  const shown = worlds.filter(({ components, workflows }) => components.length + workflows.length > 0);
  const isEmpty = shown.length === 0;
  return {
    layers: isEmpty || count > MOST_IN_LAYERS ? null : stacked(shown.map((world) => worldInLayers(world, 0))),
    column:
      isEmpty || count > MOST_IN_COLUMN
        ? null
        : stacked(shown.map((world) => worldInColumn(world, 0, COLUMN_WIDTH - 2 * EDGE))),
    listed: listedIn(worlds, 0, { worlds: [], components: [] }),
    count,
  };
}
