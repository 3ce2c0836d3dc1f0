/** What every registry guarantees of the network of sandboxes: lists, and what was reached. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { NetworkPolicyRow } from '../network.ts';
import type { Registry } from '../registry.ts';
import { entry, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const POLICY: NetworkPolicyRow = {
  rules: [{ url: 'https://api.test/v1/', methods: ['GET'], private: false }],
  requestsPerMinute: 7,
  bytesPerDay: null,
  updated: START,
  updatedBy: 'key:test',
};
/** The end of time, in hours. */
const END = 1_000_000;

export function networkSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
    await makeInstance(registry, 'a', 'archived');
    await makeInstance(registry, 'b');
  });
  afterEach(() => driver.discard());

  const set = (kind: 'sandbox' | 'tenant', id: string, policy = POLICY) =>
    registry.network.setPolicy({ kind, id, tenant: 'acme' }, policy, entry({ type: 'network.changed' }));
  const use = (instance: string, host: string, calls: number, bytes: number, tenant = 'acme') => ({
    ...{ instance, tenant, host, calls, refused: 1, bytesOut: bytes, bytesIn: 2 * bytes },
  });

  test('a list is stored with its line, replaced whole, and no other subject has it', async () => {
    await set('sandbox', 'a');
    await set('sandbox', 'a', { ...POLICY, rules: null, requestsPerMinute: null });
    await set('tenant', 'a');
    const again = await driver.again();
    expect(await again.network.policy('sandbox', 'a')).toEqual({ ...POLICY, rules: null, requestsPerMinute: null });
    expect(await again.network.policy('tenant', 'a')).toEqual(POLICY);
    expect(await again.network.policy('sandbox', 'b')).toBeNull();
    const { rows } = await again.ledger.page({ type: 'network.changed' }, 10);
    expect(rows).toHaveLength(3);
  });

  test('what was reached is summed by host, sandbox and tenant, and the oldest goes', async () => {
    await registry.network.addTraffic(5, [use('a', 'https://x.test', 1, 10), use('b', 'https://x.test', 1, 1)]);
    await registry.network.addTraffic(6, [use('a', 'https://x.test', 2, 5), use('a', 'https://y.test', 9, 1)]);
    await registry.network.addTraffic(6, [use('a', 'https://x.test', 1, 5), use('nobody', 'https://x.test', 1, 1)]);
    const ofX = { host: 'https://x.test', calls: 4, refused: 3, bytesOut: 20, bytesIn: 40 };
    const ofY = { host: 'https://y.test', calls: 9, refused: 1, bytesOut: 1, bytesIn: 2 };
    expect(await registry.network.traffic('a', 0, 10)).toEqual([ofY, ofX]);
    expect(await registry.network.traffic('a', 0, 1)).toEqual([ofY]);
    expect(await registry.network.bytesSince('sandbox', 'a', 6)).toBe(33);
    expect(await registry.network.bytesSince('tenant', 'acme', 0)).toBe(66);
    expect(await registry.network.bytesSince('tenant', 'globex', 0)).toBe(0);
    expect([await registry.network.prune(6, 1), await registry.network.prune(6, 9)]).toEqual([1, 1]);
    expect(await registry.network.traffic('b', 0, 10)).toEqual([]);
    expect(await registry.network.bytesSince('sandbox', 'a', 0)).toBe(33);
    expect(await registry.network.prune(END, 9)).toBe(2);
  });

  test('what a deleted sandbox had is gone with it, and it gets nothing more', async () => {
    await set('sandbox', 'a');
    await registry.network.addTraffic(5, [use('a', 'https://x.test', 1, 10)]);
    const row = await registry.instances.get('a');
    if (row === null) throw new Error('no row');
    await registry.instances.commit(transitionTo(row, 'deleted'));
    expect(await registry.network.policy('sandbox', 'a')).toBeNull();
    await registry.network.addTraffic(5, [use('a', 'https://x.test', 1, 10)]);
    expect(await registry.network.traffic('a', 0, 10)).toEqual([]);
    await expect(set('sandbox', 'a')).rejects.toMatchObject({ code: 'gone' });
    expect(await registry.network.policy('sandbox', 'a')).toBeNull();
  });

  test('a tenant that is being forgotten gets no list and no counts, and loses those it has', async () => {
    await set('sandbox', 'b');
    await set('tenant', 'acme');
    await registry.network.addTraffic(5, [use('b', 'https://x.test', 1, 10)]);
    const forgetting = { job: 'job-1', tenant: 'acme', actor: 'key:test', via: 'api' as const, started: START };
    await registry.tenantForgettings.begin(forgetting, entry());
    await expect(set('tenant', 'acme')).rejects.toMatchObject({ code: 'conflict' });
    await registry.network.addTraffic(6, [use('b', 'https://x.test', 1, 10)]);
    await registry.tenantForgettings.removeRecords('acme');
    expect(await registry.network.policy('tenant', 'acme')).toBeNull();
    expect(await registry.network.policy('sandbox', 'b')).toBeNull();
    expect(await registry.network.bytesSince('tenant', 'acme', 0)).toBe(0);
  });
}
