/**
 * Positions of a lineage tree: growing to the right on a wide page, an indented list on a narrow one. Many similar
 * children are drawn as a few boxes and a count, so that a restore of a thousand stays readable. Pure.
 */
import type { Lineage, LineageNode } from '#lib/contract/schema.ts';

export interface PlacedNode {
  /** `kind:id`, or `more:` and the parent's key for a box that stands for several. */
  key: string;
  /** Null for a box that stands for several. */
  node: LineageNode | null;
  /** How many sandboxes or copies the box stands for. */
  count: number;
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Link {
  key: string;
  /** An SVG path from the parent to the child. */
  path: string;
}

export interface LineageLayout {
  width: number;
  height: number;
  placed: PlacedNode[];
  links: Link[];
}

/** How many leaves of one parent are drawn one by one. From one more on, the last box stands for the rest. */
const LEAVES_SHOWN = 6;
const COLUMN = { width: 264, height: 54, gapX: 28, gapY: 12 } as const;
const LINE = { width: 350, height: 52, gapY: 8, indent: 22, mostIndent: 132 } as const;
/** Room for the stroke around a box. */
const EDGE = 2;

/** The width of a page beside its margin, and how many columns are readable in it. */
const ROOM = 944;
export const MOST_COLUMNS = 5;

interface Branch {
  key: string;
  node: LineageNode | null;
  count: number;
  depth: number;
  children: Branch[];
}

export function keyOf(node: Pick<LineageNode, 'kind' | 'id'>): string {
  return `${node.kind}:${node.id}`;
}

/** The tree that the edges form. `current` (a key) is never hidden in a count. */
function branchesOf({ nodes, edges }: Lineage, current: string): Branch[] {
  const byKey = new Map(nodes.map((node) => [keyOf(node), node]));
  const children = new Map<string, string[]>();
  const hasParent = new Set<string>();
  for (const { from, to } of edges) {
    if (!byKey.has(from) || !byKey.has(to) || hasParent.has(to)) continue;
    hasParent.add(to);
    children.set(from, [...(children.get(from) ?? []), to]);
  }
  const branchOf = (key: string, depth: number): Branch => {
    const below = (children.get(key) ?? []).map((child) => branchOf(child, depth + 1));
    return { key, node: byKey.get(key) ?? null, count: 1, depth, children: gathered(key, below, depth + 1) };
  };
  const gathered = (parent: string, below: Branch[], depth: number): Branch[] => {
    const leaves = below.filter(({ key, children }) => children.length === 0 && key !== current);
    if (leaves.length <= LEAVES_SHOWN) return below;
    const rest = new Set(leaves.slice(LEAVES_SHOWN - 1).map(({ key }) => key));
    const more: Branch = { key: `more:${parent}`, node: null, count: rest.size, depth, children: [] };
    return [...below.filter(({ key }) => !rest.has(key)), more];
  };
  return [...byKey.keys()].filter((key) => !hasParent.has(key)).map((key) => branchOf(key, 0));
}

function depthOf(branches: readonly Branch[]): number {
  return branches.reduce((most, branch) => Math.max(most, branch.depth, depthOf(branch.children)), 0);
}

/** How many columns the tree takes when it grows to the right. */
export function columnsOf(lineage: Lineage, current: string): number {
  return depthOf(branchesOf(lineage, current)) + 1;
}

/** Each generation in a column; a first child stands level with its parent. */
export function columnLayout(lineage: Lineage, current: string): LineageLayout {
  const roots = branchesOf(lineage, current);
  const columns = depthOf(roots) + 1;
  const columnWidth = Math.min(COLUMN.width, (ROOM - 2 * EDGE + COLUMN.gapX) / columns - COLUMN.gapX);
  const placed: PlacedNode[] = [];
  const links: Link[] = [];
  let row = 0;
  const place = (branch: Branch, parent: PlacedNode | null): void => {
    const here: PlacedNode = {
      ...boxOf(branch),
      x: EDGE + branch.depth * (columnWidth + COLUMN.gapX),
      y: EDGE + row * (COLUMN.height + COLUMN.gapY),
      width: columnWidth,
      height: COLUMN.height,
    };
    placed.push(here);
    if (parent !== null) links.push({ key: here.key, path: acrossFrom(parent, here) });
    if (branch.children.length === 0) row += 1;
    for (const child of branch.children) place(child, here);
  };
  for (const root of roots) place(root, null);
  return {
    width: 2 * EDGE + columns * columnWidth + (columns - 1) * COLUMN.gapX,
    height: 2 * EDGE + row * (COLUMN.height + COLUMN.gapY) - COLUMN.gapY,
    placed,
    links,
  };
}

/** One box below the other, each generation indented further. */
export function lineLayout(lineage: Lineage, current: string): LineageLayout {
  const roots = branchesOf(lineage, current);
  const indent = Math.min(LINE.indent, LINE.mostIndent / Math.max(1, depthOf(roots)));
  const placed: PlacedNode[] = [];
  const links: Link[] = [];
  const place = (branch: Branch, parent: PlacedNode | null): void => {
    const x = EDGE + branch.depth * indent;
    const here: PlacedNode = {
      ...boxOf(branch),
      x,
      y: EDGE + placed.length * (LINE.height + LINE.gapY),
      width: LINE.width - EDGE - x,
      height: LINE.height,
    };
    placed.push(here);
    if (parent !== null) {
      const left = parent.x + indent / 2;
      links.push({ key: here.key, path: `M${left} ${parent.y + parent.height}V${here.y + here.height / 2}H${here.x}` });
    }
    for (const child of branch.children) place(child, here);
  };
  for (const root of roots) place(root, null);
  return {
    width: LINE.width,
    height: 2 * EDGE + placed.length * (LINE.height + LINE.gapY) - LINE.gapY,
    placed,
    links,
  };
}

function boxOf({ key, node, count, depth }: Branch): Pick<PlacedNode, 'key' | 'node' | 'count' | 'depth'> {
  return { key, node, count, depth };
}

function acrossFrom(parent: PlacedNode, child: PlacedNode): string {
  const start = parent.x + parent.width;
  const fromY = parent.y + parent.height / 2;
  const toY = child.y + child.height / 2;
  if (fromY === toY) return `M${start} ${fromY}H${child.x}`;
  return `M${start} ${fromY}H${(start + child.x) / 2}V${toY}H${child.x}`;
}

/** A text shortened in its middle to fit into `room`. `letter`: the width of a letter, in the same unit. */
export function shortened(text: string, room: number, letter: number): string {
  const most = Math.max(4, Math.floor(room / letter));
  const letters = [...text];
  if (letters.length <= most) return text;
  // Siblings differ in the last characters of their names.
  const end = Math.floor(most / 3);
  return `${letters
    .slice(0, most - 1 - end)
    .join('')
    .trimEnd()}…${letters.slice(-end).join('').trimStart()}`;
}
