/** What every registry guarantees of quotas and of usage. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { TenantFilter } from '../quotas.ts';
import type { Registry } from '../registry.ts';
import { entry, instance, intent, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const changed = entry({ type: 'tenant.changed' });
const code = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'done',
      (error: { code?: string; extra?: { quota?: string; limit?: number; used?: number } }) =>
        `${error.code} ${error.extra?.quota} ${error.extra?.used}/${error.extra?.limit}`,
    );

export function quotaSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  test('a tenant gets no more sandboxes than its quota, tombstones free a place, and others are not limited', async () => {
    await registry.quotas.set('acme', { maxSandboxes: 2 }, changed);
    await makeInstance(registry, 'a');
    await makeInstance(registry, 'b', 'deleted');
    await makeInstance(registry, 'c');
    expect(await code(() => makeInstance(registry, 'd'))).toBe('quota_exceeded max_sandboxes 2/2');
    expect(await registry.instances.get('d')).toBeNull();
    await makeInstance(registry, 'd', 'created', { tenant: 'globex' });
    const [refused] = (await registry.ledger.page({ type: 'create.refused' }, 5)).rows;
    expect(refused).toMatchObject({ trigger: 'quota', instance: null, error: expect.stringContaining('acme') });
    await registry.quotas.set('acme', { maxSandboxes: null }, changed);
    await makeInstance(registry, 'e');
  });

  test('fifty at once leave exactly as many as the quota allows', async () => {
    await registry.quotas.set('acme', { maxSandboxes: 10 }, changed);
    const tried = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, n) => registry.instances.create(instance(`n${n}`), START, entry())),
    );
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect((await registry.quotas.tenant('acme'))?.counts.created).toBe(10);
  });

  test('pending wakes count, so that two cannot take the last place', async () => {
    await registry.quotas.set('acme', { maxActive: 1 }, changed);
    const a = await makeInstance(registry, 'a');
    const b = await makeInstance(registry, 'b');
    expect(await registry.instances.begin('a', intent(a))).toBe(true);
    expect(await code(() => registry.instances.begin('b', intent(b)))).toBe('quota_exceeded max_active 1/1');
    expect((await registry.instances.get('b'))?.pending).toBeNull();
    await registry.instances.commit(transitionTo(a, 'active'));
    expect(await code(() => registry.instances.commit(transitionTo(b, 'active')))).toBe(
      'quota_exceeded max_active 1/1',
    );
    const through = transitionTo(b, 'archived', { through: ['active'] });
    expect((await registry.instances.commit(through)).state).toBe('archived');
  });

  test('bytes are counted by state with every change, and a reservation counts before the write', async () => {
    const a = await makeInstance(registry, 'a', 'active');
    await registry.instances.touch([{ id: 'a', updated: START, bytes: 700 }]);
    await makeInstance(registry, 'b', 'active');
    await registry.instances.touch([{ id: 'b', updated: START, bytes: 100 }]);
    const weigh = async () => (await registry.quotas.tenant('acme'))?.bytes;
    expect(await weigh()).toMatchObject({ active: 800, suspended: 0 });
    await registry.instances.commit(transitionTo(a, 'suspended', { bytes: 650 }));
    expect(await weigh()).toMatchObject({ active: 100, suspended: 650 });

    expect(await registry.quotas.bytesLeft('acme')).toBeNull();
    await registry.quotas.set('acme', { maxBytes: 1000 }, changed);
    expect(await registry.quotas.bytesLeft('acme')).toBe(250);
    await registry.quotas.reserve('b', 'acme', 200);
    expect(await code(() => registry.quotas.reserve('b', 'acme', 100))).toBe('quota_exceeded max_bytes 950/1000');
    expect((await registry.instances.get('b'))?.bytes).toBe(300);
    await registry.quotas.set('acme', { maxBytes: 10 }, changed);
    expect(await registry.quotas.bytesLeft('acme')).toBe(0);

    const row = await registry.instances.get('b');
    if (row === null) throw new Error('b is gone');
    await registry.instances.commit(transitionTo(row, 'deleted', { through: ['archived'], bytes: null }));
    expect(await weigh()).toMatchObject({ active: 0, suspended: 650, archived: 0, deleted: 0 });
  });

  test('tenants are listed in order with usage and quotas, page by page, after a restart too', async () => {
    for (const tenant of ['c', 'a', 'b']) await makeInstance(registry, `of-${tenant}`, 'created', { tenant });
    await registry.quotas.set('d', { maxActive: 3, maxBytes: 9 }, changed);
    await registry.thresholds.setOfTenant('d', { idleToSuspendSeconds: 60 }, changed);
    const again = await driver.again();
    const first = await again.quotas.tenants({}, 3);
    expect(first.rows.map(({ tenant }) => tenant)).toEqual(['a', 'b', 'c']);
    const rest = await again.quotas.tenants({}, 3, first.next ?? '');
    expect(rest).toMatchObject({
      rows: [
        {
          tenant: 'd',
          quotas: { maxSandboxes: null, maxActive: 3, maxBytes: 9, maxDailyCpuSeconds: null },
          thresholds: { hotToWarmSeconds: null, idleToSuspendSeconds: 60, idleToFreezeSeconds: null },
        },
      ],
      next: null,
    });
    expect((await again.quotas.tenants({ among: ['b', 'x'] }, 10)).rows.map(({ tenant }) => tenant)).toEqual(['b']);
    const named = async (filter: TenantFilter) =>
      (await again.quotas.tenants(filter, 10)).rows.map((row) => row.tenant);
    expect(await named({ ownThresholds: true })).toEqual(['d']);
    await again.thresholds.setOfTenant('a', { hotToWarmSeconds: 0 }, changed);
    expect(await named({ ownThresholds: true })).toEqual(['a', 'd']);
    expect(await named({ text: 'b' })).toEqual(['b']);
    expect(await named({ text: '%' })).toEqual([]);
    expect(await again.quotas.tenant('x')).toBeNull();
  });

  test('what is promised of a tenant’s replicas is kept beside its quotas, with its line, after a restart too', async () => {
    expect(await registry.quotas.replicateOf('a')).toBeNull();
    expect(await registry.quotas.setReplicate('a', '5s', changed)).toBe('5s');
    await registry.quotas.setReplicate('b', 'filed', changed);
    await registry.quotas.set('c', { maxActive: 1 }, changed);
    expect(await registry.quotas.limited()).toEqual(['c']);
    const again = await driver.again();
    expect((await again.quotas.replicated()).sort((x, y) => (x.tenant < y.tenant ? -1 : 1))).toEqual([
      { tenant: 'a', replicate: '5s' },
      { tenant: 'b', replicate: 'filed' },
    ]);
    expect(await again.quotas.setReplicate('a', null, changed)).toBeNull();
    expect(await again.quotas.replicated()).toEqual([{ tenant: 'b', replicate: 'filed' }]);
    expect((await again.quotas.tenant('b'))?.replicate).toBe('filed');
    expect((await again.ledger.page({}, 10)).rows.filter(({ type }) => type === changed.type)).toHaveLength(4);
  });

  test('passing through a state is two hops in one; off the map nothing is done', async () => {
    const row = await makeInstance(registry, 'a', 'suspended');
    expect(await code(() => registry.instances.commit(transitionTo(row, 'deleted', { through: ['active'] })))).toMatch(
      /^invalid_transition/,
    );
    expect(await code(() => registry.instances.commit(transitionTo(row, 'archived')))).toMatch(/^invalid_transition/);
    const after = await registry.instances.commit(transitionTo(row, 'deleted', { through: ['active', 'archived'] }));
    expect([after.state, after.generation]).toEqual(['deleted', row.generation + 3]);
  });

  test('processor time adds up by tenant and day, and is shown beside quotas, after a restart too', async () => {
    for (const [tenant, hour, cpuMs] of [
      ['acme', 240, 1500],
      ['acme', 263, 2000],
      ['acme', 264, 250],
      ['globex', 240, 100_000],
    ] as const) {
      await registry.usage.add(hour, { sandboxes: [], tenants: [{ tenant, cpuMs, calls: 0, memoryBytes: 0 }] });
    }
    await registry.quotas.set('acme', { maxDailyCpuSeconds: 3 }, changed);
    await registry.quotas.set('none', { maxDailyCpuSeconds: 0 }, changed);
    const again = await driver.again();
    expect(await Promise.all([10, 11, 12].map((day) => again.cpuUse.of('acme', day)))).toEqual([3.5, 0.25, 0]);
    const limited = async (day: number) =>
      (await again.cpuUse.limited(day)).sort((one, other) => (one.tenant < other.tenant ? -1 : 1));
    const none = { tenant: 'none', limit: 0, used: 0 };
    expect(await limited(10)).toEqual([{ tenant: 'acme', limit: 3, used: 3.5 }, none]);
    expect(await limited(11)).toEqual([{ tenant: 'acme', limit: 3, used: 0.25 }, none]);
    await again.cpuUse.deleteBefore(11);
    expect(await Promise.all([10, 11].map((day) => again.cpuUse.of('acme', day)))).toEqual([0, 0.25]);
    await again.quotas.set('none', { maxDailyCpuSeconds: null }, changed);
    expect(await limited(10)).toEqual([{ tenant: 'acme', limit: 3, used: 0 }]);
  });

  test('wake times add up by day, and are deleted by day', async () => {
    const bucket = { day: 10, path: 'cold' as const, source: 'local' as const, boundMs: 4, count: 2, sumMs: 6 };
    const warm = { ...bucket, day: 11, path: 'warm' as const, source: null, boundMs: null };
    await registry.wakeTimes.add([bucket, warm]);
    await registry.wakeTimes.add([bucket]);
    const again = await driver.again();
    expect(await again.wakeTimes.since(10)).toEqual([{ ...bucket, count: 4, sumMs: 12 }, warm]);
    await again.wakeTimes.deleteBefore(11);
    expect(await again.wakeTimes.since(0)).toEqual([warm]);
  });
}
