import { expect, test } from 'vitest';
import type { PlanComponent, PlanWorld } from '#lib/contract/schema.ts';
import type { Place, PlanLayout } from './plan-drawing.ts';
import { layoutPlan } from './plan-layout.ts';
import { sortedByDependency } from './plan-order.ts';

function component(path: string, line: number, more: Partial<PlanComponent> = {}): PlanComponent {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const nothing = { deps: [], uses: [], in: [], out: [], persist: false, src: 'secret', schedule: null };
  return { name, path, lang: 'js', line, ...nothing, ...more };
}

function world(path: string, more: Partial<PlanWorld>): PlanWorld {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const nothing = { schedule: null, imports: [], exports: [], components: [], edges: [], workflows: [], deps: [] };
  return { name, path, line: 1, ...nothing, ...more };
}

/** Two levels: `load` feeds `clean` and the nested world `sum`, and `load` goes past `clean` to `tell`. */
const TWO_LEVELS = world('main', {
  components: [component('main/tell', 9), component('main/load', 2), component('main/clean', 4)],
  edges: [
    { from: 'load', to: 'clean', name: 'rows' },
    { from: 'clean', to: 'sum', name: 'tidy' },
    { from: 'load', to: 'tell', name: 'rows' },
    { from: 'load', to: 'tell', name: 'count' },
    { from: 'sum', to: 'tell' },
  ],
  workflows: [
    world('main/sum', {
      line: 6,
      components: [component('main/sum/add', 7), component('main/sum/round', 8)],
      edges: [{ from: 'add', to: 'round', name: 'total' }],
    }),
  ],
});

function holds(outer: Place, inner: Place): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    inner.x + inner.width <= outer.x + outer.width + 0.01 &&
    inner.y + inner.height <= outer.y + outer.height + 0.01
  );
}

function overlap(one: Place, other: Place): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

function placed(layout: PlanLayout | null, path: string): Place {
  const found = [...(layout?.components ?? []), ...(layout?.worlds ?? [])].find((each) => each.path === path);
  if (found === undefined) throw new Error(`${path} is not placed`);
  return found;
}

test('parts run after what they depend on, else in the order of the source, and a cycle ends last', () => {
  expect(sortedByDependency(TWO_LEVELS)).toEqual(['load', 'clean', 'sum', 'tell']);
  const round = world('round', {
    components: [component('round/a', 1), component('round/b', 2), component('round/c', 3)],
    edges: [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
    ],
  });
  expect(sortedByDependency(round)).toEqual(['c', 'a', 'b']);
});

test.each(['layers', 'column'] as const)('in %s each world holds its parts, and no two parts overlap', (kind) => {
  const layout = layoutPlan({ worlds: [TWO_LEVELS, world('other', { components: [component('other/a', 20)] })] })[kind];
  const all = [...(layout?.components ?? []), ...(layout?.worlds ?? [])];
  expect(all.map(({ path }) => path).sort()).toEqual([
    'main',
    'main/clean',
    'main/load',
    'main/sum',
    'main/sum/add',
    'main/sum/round',
    'main/tell',
    'other',
    'other/a',
  ]);
  for (const one of all) {
    expect(holds({ x: 0, y: 0, width: layout?.width ?? 0, height: layout?.height ?? 0 }, one), one.path).toBe(true);
    for (const other of all) {
      if (one === other) continue;
      if (other.path.startsWith(`${one.path}/`)) expect(holds(one, other), `${other.path} in ${one.path}`).toBe(true);
      else if (!one.path.startsWith(`${other.path}/`))
        expect(overlap(one, other), `${one.path} ${other.path}`).toBe(false);
    }
  }
});

test.each(['layers', 'column'] as const)('in %s every arrow ends at the part that it leads to', (kind) => {
  const layout = layoutPlan({ worlds: [TWO_LEVELS] })[kind];
  const edges = layout?.edges ?? [];
  expect(edges.map(({ from, to, names }) => [from, to, names.join()])).toEqual(
    expect.arrayContaining([
      ['main/load', 'main/clean', 'rows'],
      ['main/clean', 'main/sum', 'tidy'],
      ['main/load', 'main/tell', 'rows,count'],
      ['main/sum', 'main/tell', ''],
      ['main/sum/add', 'main/sum/round', 'total'],
    ]),
  );
  expect(edges).toHaveLength(5);
  for (const { from, to, tip } of edges) {
    const [start, end] = [placed(layout, from), placed(layout, to)];
    expect(start.y + start.height, `${from} above ${to}`).toBeLessThanOrEqual(end.y);
    expect(tip.x).toBeGreaterThanOrEqual(end.x - 0.1);
    expect(tip.x).toBeLessThanOrEqual(end.x + end.width);
    if (tip.towards === 'down') expect(Math.abs(tip.y - end.y)).toBeLessThan(1);
    else expect(Math.abs(tip.x - end.x)).toBeLessThan(1);
  }
});

test('what runs side by side stands in the order of the source, and each arrow ends on the top of its box', () => {
  const names = ['one', 'two', 'three', 'four'];
  const { layers } = layoutPlan({
    worlds: [
      world('main', {
        components: [...names, 'all'].map((name, at) => component(`main/${name}`, at)),
        edges: names.map((from) => ({ from, to: 'all' })),
      }),
    ],
  });
  const places = names.map((name) => placed(layers, `main/${name}`));
  expect(places.map(({ x }) => x)).toEqual(places.map(({ x }) => x).sort((one, other) => one - other));
  const all = placed(layers, 'main/all');
  for (const { tip } of layers?.edges ?? []) {
    expect(tip.y).toBeCloseTo(all.y, 0);
    expect(tip.x).toBeGreaterThan(all.x);
    expect(tip.x).toBeLessThan(all.x + all.width);
  }
});

test('the column is as wide as a narrow screen, however deep worlds are nested', () => {
  const nested = (depth: number, path: string): PlanWorld =>
    world(path, {
      components: [component(`${path}/a`, 1), component(`${path}/b`, 2)],
      edges: [{ from: 'a', to: 'b' }],
      workflows: depth === 0 ? [] : [nested(depth - 1, `${path}/w`)],
    });
  const { column } = layoutPlan({ worlds: [nested(14, 'main')] });
  expect(column?.width).toBeLessThanOrEqual(350);
  for (const { width } of column?.components ?? []) expect(width).toBeGreaterThan(80);
});

test('a large plan is not drawn in layers, a huge one not at all, and both are listed without their sources', () => {
  const large = (count: number) =>
    layoutPlan({
      worlds: [world('main', { components: Array.from({ length: count }, (_, at) => component(`main/c${at}`, at)) })],
    });
  expect(large(100)).toMatchObject({ layers: null, count: 100 });
  expect(large(100).column?.components).toHaveLength(100);
  const huge = large(10_000);
  expect(huge).toMatchObject({ layers: null, column: null, count: 10_000 });
  expect(huge.listed.components).toHaveLength(1000);
  expect(JSON.stringify(huge)).not.toContain('secret');
  expect(large(0)).toMatchObject({ layers: null, column: null, count: 0 });
});
