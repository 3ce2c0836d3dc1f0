import { afterAll, beforeAll, expect, test } from 'vitest';
import type { State } from '../lifecycle/state-map.ts';
import type { Registry } from '../registry/registry.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { readLife } from './life.ts';

let registry: Registry;
beforeAll(async () => {
  registry = await openRegistryOfTests(null);
});
afterAll(() => registry.close());

const hop = (id: string, timeMs: number, from: State, to: State, source: 'local' | null = null) =>
  entry({ type: 'transition', instance: id, tenant: 'acme', timeMs, from, to, source });
const read = (id: string, fromMs: number, toMs: number, count: number, state: State = 'suspended') =>
  readLife(registry.ledger, { id: instanceId(id), fromMs, toMs, count, state });
const sums = (columns: { states: Map<State, number> }[]) =>
  columns.map(({ states }) => [...states.values()].reduce((sum, ms) => sum + ms, 0));

test('a short life is exact: its stretches, its hops, and the time in each state of each column', async () => {
  await registry.ledger.append([
    hop('short', 1000, 'created', 'active', 'local'),
    entry({ type: 'fault.raised', instance: 'short', timeMs: 2500, reason: 'error' }),
    hop('short', 3000, 'active', 'suspended'),
    hop('other', 3500, 'created', 'active'),
    hop('short', 4000, 'suspended', 'frozen'),
  ]);
  const life = await read('short', 0, 8000, 4, 'frozen');
  expect(life.exact?.stretches.map(({ state, fromMs, toMs }) => [state, fromMs, toMs])).toEqual([
    ['created', 0, 1000],
    ['active', 1000, 3000],
    ['suspended', 3000, 4000],
    ['frozen', 4000, 8000],
  ]);
  expect(life.exact?.hops.map(({ from, to }) => `${from} ${to}`)).toHaveLength(3);
  expect(life.columns.map(({ states }) => Object.fromEntries(states))).toEqual([
    { created: 1000, active: 1000 },
    { active: 1000, suspended: 1000 },
    { frozen: 2000 },
    { frozen: 2000 },
  ]);
  expect(life.columns.map(({ hops, wakes, faults, lines }) => [hops, wakes, faults, lines])).toEqual([
    [1, 1, [], 1],
    [1, 0, ['error'], 2],
    [1, 0, [], 1],
    [0, 0, [], 0],
  ]);
  // A part of it begins in the state that the last hop before it led to.
  const part = await read('short', 3500, 3900, 1);
  expect(part.exact?.stretches).toEqual([{ state: 'suspended', fromMs: 3500, toMs: 3900 }]);
  expect((await read('nobody', 0, 10, 1, 'created')).exact?.stretches[0]?.state).toBe('created');
});

test('a life of 100 000 lines is read in a bounded number of columns and of lines, and says what is estimated', async () => {
  const count = 100_000;
  // Awake for a quarter of each second, but for a quiet tenth in the middle of it.
  const at = (n: number) => (n < count / 2 ? 0 : 0.1 * count * 500) + Math.floor(n / 2) * 1000 + (n % 2) * 250;
  for (let first = 0; first < count; first += 2000) {
    const lines = Array.from({ length: 2000 }, (_, n) =>
      (first + n) % 2 === 0
        ? hop('long', at(first + n), 'suspended', 'active', 'local')
        : hop('long', at(first + n), 'active', 'suspended'),
    );
    await registry.ledger.append(lines);
  }
  const end = at(count);
  const asked: number[] = [];
  const ledger = {
    ...registry.ledger,
    linesBetween: async (...args: Parameters<Registry['ledger']['linesBetween']>) => {
      const lines = await registry.ledger.linesBetween(...args);
      asked.push(lines.length);
      return lines;
    },
  };
  const before = process.cpuUsage();
  const id = instanceId('long');
  const life = await readLife(ledger, { id, fromMs: 0, toMs: end, count: 240, state: 'suspended' });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1500);
  expect(life.exact).toBeNull();
  expect(life.columns).toHaveLength(240);
  expect(asked.reduce((sum, n) => sum + n, 0)).toBeLessThan(2001 + 240 * 101);
  for (const [n, sum] of sums(life.columns).entries()) expect(sum, String(n)).toBeCloseTo(end / 240, -1);
  const crowded = life.columns.filter(({ estimated }) => estimated);
  expect(crowded.length).toBeGreaterThan(200);
  for (const { states, hops, wakes } of crowded.slice(1, -1)) {
    const awake = (states.get('active') ?? 0) / (end / 240);
    if (hops < 400) continue;
    expect(awake).toBeGreaterThan(0.2);
    expect(awake).toBeLessThan(0.3);
    expect(wakes).toBeGreaterThan(hops / 2 - 3);
  }
  const quiet = life.columns.filter(({ lines }) => lines === 0);
  expect(quiet.length).toBeGreaterThan(15);
  for (const { states } of quiet) expect([...states.keys()]).toEqual(['suspended']);
  // Drawn in parts, it is exact again.
  expect((await read('long', 0, 60_000, 240)).exact?.hops).toHaveLength(120);
});
