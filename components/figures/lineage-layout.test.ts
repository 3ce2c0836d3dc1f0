import { expect, test } from 'vitest';
import type { Lineage, LineageNode } from '#lib/contract/schema.ts';
import { columnLayout, columnsOf, keyOf, lineLayout, shortened } from './lineage-layout.ts';

function node(kind: LineageNode['kind'], id: string): LineageNode {
  return { kind, id, label: null, tenant: 'acme', state: null, deleted: false, bytes: 1, disk_bytes: 0, created: 1 };
}

/** A sandbox, its snapshot, and `count` sandboxes made from it. */
function family(count: number): Lineage {
  const made = Array.from({ length: count }, (_, index) => node('instance', `made-${index}`));
  return {
    nodes: [node('instance', 'first'), node('snapshot', 's'), ...made],
    edges: [
      { from: 'instance:first', to: 'snapshot:s' },
      ...made.map((child) => ({ from: 'snapshot:s', to: keyOf(child) })),
    ],
    truncated: false,
  };
}

test('each generation has a column, and a first child stands level with its parent', () => {
  const { placed, links, width, height } = columnLayout(family(3), 'instance:first');
  expect(columnsOf(family(3), 'instance:first')).toBe(3);
  const at = Object.fromEntries(placed.map(({ key, x, y }) => [key, { x, y }]));
  expect(at['instance:first']?.y).toBe(at['snapshot:s']?.y);
  expect(at['instance:made-0']?.y).toBe(at['snapshot:s']?.y);
  expect(new Set(placed.slice(2).map(({ x }) => x)).size).toBe(1);
  expect(links.map(({ key }) => key)).toEqual(['snapshot:s', 'instance:made-0', 'instance:made-1', 'instance:made-2']);
  for (const box of placed) {
    expect(box.x + box.width).toBeLessThanOrEqual(width);
    expect(box.y + box.height).toBeLessThanOrEqual(height);
  }
});

test.each([columnLayout, lineLayout])('no two boxes of %o overlap', (layout) => {
  const { placed } = layout(family(6), 'snapshot:s');
  for (const a of placed) {
    for (const b of placed) {
      if (a === b) continue;
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      expect(apart, `${a.key} and ${b.key}`).toBe(true);
    }
  }
});

test('of many similar children a few are drawn and the rest counted, but never the current one', () => {
  const { placed } = columnLayout(family(50), 'instance:made-42');
  expect(placed).toHaveLength(2 + 5 + 1 + 1);
  expect(placed.some(({ key }) => key === 'instance:made-42')).toBe(true);
  expect(placed.find(({ node }) => node === null)?.count).toBe(50 - 5 - 1);
});

test('a long line of ancestors stays within a narrow page', () => {
  const nodes = Array.from({ length: 17 }, (_, index) => node(index % 2 === 0 ? 'instance' : 'snapshot', `n${index}`));
  const edges = nodes.slice(1).map((child, index) => ({ from: keyOf(nodes[index] as LineageNode), to: keyOf(child) }));
  const { placed, width } = lineLayout({ nodes, edges, truncated: false }, 'instance:n16');
  expect(placed).toHaveLength(17);
  for (const box of placed) {
    expect(box.x + box.width).toBeLessThanOrEqual(width);
    expect(box.width).toBeGreaterThan(180);
  }
});

test('an edge to an unknown node, or to a second parent, is skipped', () => {
  const lineage = family(1);
  lineage.edges.push({ from: 'instance:nobody', to: 'snapshot:s' }, { from: 'instance:first', to: 'instance:made-0' });
  expect(lineLayout(lineage, 'snapshot:s').links).toHaveLength(2);
});

test('a name that does not fit keeps its end, which tells siblings apart', () => {
  expect(shortened('Third desk', 120, 7)).toBe('Third desk');
  const desks = ['Triage, second desk-1', 'Triage, second desk-2'].map((name) => shortened(name, 120, 7));
  expect(desks).toEqual(['Triage, sec…esk-1', 'Triage, sec…esk-2']);
});
