/** What every registry guarantees of webhooks and their deliveries. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { entry, type RegistryUnderTest, START } from './fixtures.ts';

const NOW = START * 1000;
const HEALTHY = { failures: 0, failingSinceMs: null, lastSuccessMs: NOW };

export function webhookSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const add = (id: string, tenant: string | null = null, most = 10) =>
    registry.webhooks.add(
      {
        ...{ id, name: 'pager', url: 'https://example.com/', tenant, types: ['problems'], secret: 'sealed' },
        ...{ cursor: 5, created: START, createdBy: 'key:test' },
      },
      most,
      entry({ type: 'webhook.created' }),
    );
  const delivery = (line: number, nextMs = NOW) => ({
    ...{ id: `hook-1.${line}`, webhook: 'hook-1', line, type: 'fault.raised', createdMs: NOW, nextMs },
  });
  const attempt = (state: 'delivered' | 'failed' | 'pending', nextMs: number | null = null) => ({
    ...{ state, nextMs, status: 204, error: null, attemptedMs: NOW, tookMs: 1.5 },
  });

  test('a webhook is stored with its line, changed and removed with its deliveries, and there are so many at most', async () => {
    const made = await add('hook-1', 'acme', 1);
    expect(made).toMatchObject({ enabled: true, failures: 0, oldSecret: null });
    expect(await registry.webhooks.get('hook-1')).toEqual(made);
    await expect(add('hook-2', null, 1)).rejects.toMatchObject({ code: 'quota_exceeded' });
    const changed = await registry.webhooks.change(
      'hook-1',
      { name: 'other' },
      NOW,
      entry({ type: 'webhook.changed' }),
    );
    expect(changed).toEqual({ ...made, name: 'other' });
    expect(await registry.webhooks.change('hook-9', { name: 'x' }, NOW, entry())).toBeNull();
    await registry.webhooks.plan([{ webhook: 'hook-1', from: 5, to: 6, deliveries: [delivery(6)] }]);
    expect(await registry.webhooks.remove('hook-1', entry({ type: 'webhook.removed' }))).toBe(true);
    expect(await registry.webhooks.remove('hook-1', entry())).toBe(false);
    expect(await registry.webhooks.getDelivery('hook-1.6')).toBeNull();
    const { rows } = await registry.ledger.page({}, 10);
    expect(rows.map(({ type }) => type).sort()).toEqual(['webhook.changed', 'webhook.created', 'webhook.removed']);
  });

  test('sealed texts of a webhook are replaced where both are still those that were read', async () => {
    const made = await add('hook-1');
    const to = { secret: 'anew', oldSecret: null };
    const wrong = { from: { id: 'hook-1', secret: 'sealed', oldSecret: 'other' }, to };
    const gone = { from: { id: 'hook-9', secret: 'sealed', oldSecret: null }, to };
    expect(await registry.webhooks.reseal([wrong, gone])).toBe(0);
    expect(await registry.webhooks.get('hook-1')).toEqual(made);
    const right = { from: { id: 'hook-1', secret: 'sealed', oldSecret: null }, to };
    expect(await registry.webhooks.reseal([right, right])).toBe(1);
    expect(await registry.webhooks.get('hook-1')).toEqual({ ...made, ...to });
  });

  test('a cursor moves together with its deliveries, and only from where it is', async () => {
    await add('hook-1');
    const step = { webhook: 'hook-1', from: 5, to: 9, deliveries: [delivery(7), delivery(9, NOW + 1)] };
    expect(await registry.webhooks.plan([step, { ...step, webhook: 'hook-9' }])).toEqual([step]);
    // The same lines once more are another look at what was looked at.
    expect(await registry.webhooks.plan([step])).toEqual([]);
    expect((await registry.webhooks.get('hook-1'))?.cursor).toBe(9);
    expect(await registry.webhooks.pending('hook-1', 10)).toBe(2);
    expect((await registry.webhooks.due('hook-1', NOW, 10)).map(({ line }) => line)).toEqual([7]);
    expect(await registry.webhooks.earliest('hook-1')).toBe(NOW);
    await registry.webhooks.change('hook-1', { enabled: false }, NOW, entry());
    await registry.webhooks.plan([{ webhook: 'hook-1', from: 9, to: 10, deliveries: [delivery(10)] }]);
    expect((await registry.webhooks.get('hook-1'))?.cursor).toBe(9);
  });

  test('only what waits for a time of another clock is let go when the clock was set back', async () => {
    await add('hook-1');
    const late = [6, 7, 8, 9].map((line) => delivery(line, NOW + 10));
    await registry.webhooks.plan([{ webhook: 'hook-1', from: 5, to: 9, deliveries: late }]);
    for (const [line, attemptedMs, nextMs] of [
      [6, NOW - 1, NOW + 10],
      [7, NOW + 5, NOW + 10],
      [8, NOW - 1, NOW + 101],
    ] as const) {
      const tried = { ...attempt('pending', nextMs), attemptedMs };
      await registry.webhooks.recordAttempt(delivery(line), tried, HEALTHY, 2, null);
    }
    await registry.webhooks.hastenAhead('hook-1', NOW, 100);
    expect((await registry.webhooks.due('hook-1', NOW, 10)).map(({ line }) => line).sort()).toEqual([7, 8, 9]);
    expect((await registry.webhooks.due('hook-1', NOW + 10, 10)).map(({ line }) => line)).toContain(6);
  });

  test('an attempt is recorded with how the webhook fares, ends are trimmed, and one turned off has its line', async () => {
    await add('hook-1');
    const lines = [6, 7, 8];
    await registry.webhooks.plan([{ webhook: 'hook-1', from: 5, to: 8, deliveries: lines.map((n) => delivery(n)) }]);
    for (const line of lines) {
      await registry.webhooks.recordAttempt(delivery(line), attempt('delivered'), HEALTHY, 2, null);
    }
    const kept = await registry.webhooks.deliveries('hook-1', undefined, 1);
    expect(kept.rows).toMatchObject([{ line: 8, state: 'delivered', attempts: 1, status: 204, tookMs: 1.5 }]);
    const rest = await registry.webhooks.deliveries('hook-1', 'delivered', 5, kept.next ?? '');
    expect(rest.rows.map(({ line }) => line)).toEqual([7]);
    const again = await registry.webhooks.resend('hook-1.7', NOW + 5, entry());
    expect(again).toMatchObject({ state: 'pending', attempts: 0, nextMs: NOW + 5 });
    const failing = { failures: 1, failingSinceMs: NOW, lastSuccessMs: NOW };
    const off = { reason: 'it answers 410', ledger: entry({ type: 'webhook.turned_off' }) };
    await registry.webhooks.recordAttempt(delivery(7), attempt('pending', NOW + 9), failing, 2, off);
    expect(await registry.webhooks.get('hook-1')).toMatchObject({ ...failing, enabled: false, offReason: off.reason });
    expect((await registry.ledger.page({ type: 'webhook.turned_off' }, 5)).rows).toHaveLength(1);
    const on = await registry.webhooks.change('hook-1', { enabled: true }, NOW + 1, entry());
    expect(on).toMatchObject({ enabled: true, offReason: null, failures: 0, failingSinceMs: null });
    expect(await registry.webhooks.earliest('hook-1')).toBe(NOW + 1);
  });
}
