/** What every registry guarantees of usage by the hour, and of the lines that a life is drawn from. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { entry, makeInstance, type RegistryUnderTest } from './fixtures.ts';

const HOUR_MS = 3_600_000;
/** The end of time, in hours. */
const END = 1_000_000;
const nothing = { cpuMs: 0, calls: 0, memoryBytes: 0, wakes: 0, faults: 0, activeChange: 0, activeMs: 0 };

export function usageSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const use = (cpuMs: number, calls: number, memoryBytes: number) => ({ cpuMs, calls, memoryBytes });
  const hop = (atMs: number, over: Parameters<typeof entry>[0] = {}) =>
    entry({ type: 'transition', instance: 'a', tenant: 'acme', timeMs: atMs, ...over });
  const woke = (atMs: number) => hop(atMs, { from: 'suspended', to: 'active', source: 'local' });
  const slept = (atMs: number) => hop(atMs, { from: 'active', to: 'suspended' });
  const count = async () => {
    while ((await registry.usage.countLedger(3, 0)) > 0);
  };

  test('what is added in an hour is summed, the memory is the most of it, after a restart too', async () => {
    await makeInstance(registry, 'a', 'active');
    await makeInstance(registry, 'b', 'active', { tenant: 'globex' });
    await registry.instances.touch([{ id: 'a', updated: 0, bytes: 700 }]);
    for (const [hour, cpuMs, calls, memoryBytes] of [
      [5, 10, 1, 300],
      [5, 20, 2, 200],
      [7, 1, 0, 50],
    ] as const) {
      const tenants = [{ tenant: 'acme', ...use(cpuMs, calls, memoryBytes) }];
      await registry.usage.add(hour, { sandboxes: [{ id: 'a', ...use(cpuMs, calls, memoryBytes) }], tenants });
    }
    const globex = [{ tenant: 'globex', ...use(5, 4, 1) }];
    await registry.usage.add(5, { sandboxes: [{ id: 'b', ...use(5, 4, 1) }], tenants: globex });
    const again = await driver.again();
    const first = { hour: 5, ...use(30, 3, 300), bytes: 700 };
    expect(await again.usage.ofSandbox('a', 0, 6)).toEqual([first]);
    expect(await again.usage.ofSandbox('a', 6, 7)).toEqual([{ hour: 7, ...use(1, 0, 50), bytes: 700 }]);
    expect(await again.usage.ofSandbox('nobody', 0, END)).toEqual([]);
    expect((await again.usage.ofTenant('acme', 0, 6)).hours).toEqual([{ ...nothing, ...first }]);
    expect((await again.usage.ofTenant(null, 5, 5)).hours).toMatchObject([{ cpuMs: 35, calls: 7, bytes: 700 }]);
    expect(await again.cpuUse.of('acme', 0)).toBeCloseTo(0.031);
  });

  test('hours are summed into steps, each with the disk of its last hour and active time to its own end', async () => {
    await makeInstance(registry, 'a', 'active');
    await registry.ledger.append([woke(4 * HOUR_MS + 60_000), woke(5 * HOUR_MS), slept(9 * HOUR_MS + 1000)]);
    await count();
    for (const [hour, bytes, memory] of [
      [4, 400, 9],
      [5, 500, 7],
      [8, 800, 3],
      [9, 900, 2],
    ] as const) {
      await registry.instances.touch([{ id: 'a', updated: 0, bytes }]);
      const tenants = [{ tenant: 'acme', ...use(1, 2, memory) }];
      await registry.usage.add(hour, { sandboxes: [{ id: 'a', ...use(1, 2, memory) }], tenants });
    }
    expect(await registry.usage.ofSandbox('a', 2, 10, 3)).toEqual([
      { hour: 2, ...use(1, 2, 9), bytes: 400 },
      { hour: 5, ...use(1, 2, 7), bytes: 500 },
      { hour: 8, ...use(2, 4, 3), bytes: 900 },
    ]);
    const { hours } = await registry.usage.ofTenant('acme', 3, 10, 4);
    expect(hours).toEqual([
      {
        ...{ hour: 3, ...use(2, 4, 9), bytes: 500, wakes: 2, faults: 0, activeChange: 2 },
        activeMs: 3 * HOUR_MS - 60_000 + 2 * HOUR_MS,
      },
      {
        ...{ hour: 7, ...use(2, 4, 3), bytes: 900, wakes: 0, faults: 0, activeChange: -1 },
        activeMs: -(2 * HOUR_MS - 1000),
      },
    ]);
  });

  test('each line of the ledger is counted once, in pieces, by tenant and for the whole server', async () => {
    const at = 100 * HOUR_MS;
    await registry.ledger.append([
      hop(at, { from: 'created', to: 'active' }),
      hop(at, { from: 'active', to: 'archived' }),
      entry({ type: 'fault.raised', instance: 'a', tenant: 'acme', timeMs: at, reason: 'error' }),
      entry({ type: 'fault.raised', instance: 'b', tenant: 'globex', timeMs: at, reason: 'error' }),
      entry({ type: 'thermal.warm', instance: 'a', tenant: 'acme', timeMs: at }),
      woke(at + 1000),
      slept(at + 61_000),
      woke(at + HOUR_MS - 1000),
    ]);
    expect((await registry.usage.ofTenant(null, 0, END)).uncounted).toBe(8);
    await count();
    await count();
    const hour = { wakes: 2, faults: 1, activeChange: 1, activeMs: HOUR_MS - 1000 - (HOUR_MS - 61_000) + 1000 };
    const acme = await registry.usage.ofTenant('acme', 0, END);
    expect(acme).toMatchObject({ hours: [{ hour: 100, ...hour }], laterChange: 0, uncounted: 0 });
    expect((await registry.usage.ofTenant(null, 0, END)).hours).toMatchObject([{ hour: 100, ...hour, faults: 2 }]);
    expect(await registry.usage.ofTenant('acme', 0, 99)).toMatchObject({ hours: [], laterChange: 1 });
    await registry.ledger.append([slept(at + HOUR_MS)]);
    const again = await driver.again();
    expect((await again.usage.ofTenant('acme', 0, END)).uncounted).toBe(1);
    expect(await again.usage.countLedger(10, 0)).toBe(0);
    expect((await again.usage.ofTenant('acme', 0, END)).hours.map(({ activeChange }) => activeChange)).toEqual([1, -1]);
  });

  test('an older ledger is counted from the first line that is wanted', async () => {
    await registry.ledger.append([woke(1000), slept(2000), woke(10 * HOUR_MS), slept(10 * HOUR_MS + 1)]);
    expect(await registry.usage.countLedger(10, 5 * HOUR_MS)).toBe(0);
    expect((await registry.usage.ofTenant('acme', 0, END)).hours).toMatchObject([{ hour: 10, wakes: 1 }]);
  });

  test('the oldest hours are deleted, by age and beyond a number of rows, a few at a time', async () => {
    await makeInstance(registry, 'a', 'active');
    for (let hour = 1; hour <= 20; hour += 1)
      await registry.usage.add(hour, { sandboxes: [{ id: 'a', ...use(1, 1, 1) }], tenants: [] });
    const sizes = async () => (await registry.usage.sizes()).sandboxes;
    expect(await sizes()).toEqual({ rows: 20, oldest: 1 });
    const prune = async (before: number, rows: number) => {
      while ((await registry.usage.prune(before, rows, 4)) > 0);
      return sizes();
    };
    await registry.ledger.append([entry(), entry()]);
    expect(await registry.maintenance.keptRows(5)).toMatchObject({ sandbox_hours: 20, tenant_hours: 20, jobs: 0 });
    expect(await prune(0, 1000)).toEqual({ rows: 20, oldest: 1 });
    expect(await prune(11, 1000)).toEqual({ rows: 10, oldest: 11 });
    expect(await prune(0, 3)).toEqual({ rows: 3, oldest: 18 });
    expect((await registry.usage.ofSandbox('a', 0, END)).map(({ hour }) => hour)).toEqual([18, 19, 20]);
    expect((await registry.usage.sizes()).tenants.rows).toBe(3);
  });

  test('the lines of a sandbox are read by their time, bounded, and its last hop is found', async () => {
    const beat = (atMs: number) => entry({ type: 'thermal.warm', instance: 'a', tenant: 'acme', timeMs: atMs });
    await registry.ledger.append([woke(1000), beat(2000), beat(3000), slept(4000), hop(1500, { instance: 'b' })]);
    const span = { fromMs: 1000, toMs: 4000 };
    const lines = await registry.ledger.linesBetween('a', span, 10);
    expect(lines.map(({ timeMs, type, to }) => [timeMs, type, to])).toEqual([
      [1000, 'transition', 'active'],
      [2000, 'thermal.warm', null],
      [3000, 'thermal.warm', null],
    ]);
    expect(await registry.ledger.linesBetween('a', span, 2)).toEqual(lines.slice(0, 2));
    expect(await registry.ledger.countBetween('a', span, 10)).toBe(3);
    expect(await registry.ledger.countBetween('a', span, 2)).toBe(2);
    const last = (atMs: number) => registry.ledger.lastHopBefore('a', atMs);
    expect(await Promise.all([last(1000), last(1001), last(4000), last(4001)])).toEqual([
      null,
      'active',
      'active',
      'suspended',
    ]);
  });
}
