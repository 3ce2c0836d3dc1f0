import { expect, test } from 'vitest';
import type { LedgerLine } from '../registry/types.ts';
import { isWanted } from './filter.ts';
import { attemptResultOf, healthAfter, nextAttemptMs } from './retries.ts';
import { newWebhookSecret, webhookHeaders } from './signature.ts';

test('a signature is the one that Standard Webhooks gives as its example', () => {
  const headers = webhookHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  });
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a new secret is 32 random bytes', () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(secret);
});

test('a webhook is told of its tenant’s lines of its types', () => {
  const line = (over: Partial<LedgerLine>) =>
    ({ tenant: 'acme', type: 'transition', error: null, ...over }) as LedgerLine;
  const all = { tenant: null, types: null };
  expect(isWanted(all, line({ tenant: null }))).toBe(true);
  expect(isWanted({ ...all, tenant: 'acme' }, line({}))).toBe(true);
  expect(isWanted({ ...all, tenant: 'acme' }, line({ tenant: 'globex' }))).toBe(false);
  expect(isWanted({ ...all, tenant: 'acme' }, line({ tenant: null }))).toBe(false);
  expect(isWanted({ ...all, types: ['fault.*'] }, line({ type: 'fault.raised' }))).toBe(true);
  expect(isWanted({ ...all, types: ['fault.*'] }, line({ type: 'faulty' }))).toBe(false);
  expect(isWanted({ ...all, types: ['transition'] }, line({}))).toBe(true);
  for (const type of ['fault.raised', 'access.refused', 'wake.failed', 'exec.out_of_memory']) {
    expect([type, isWanted({ ...all, types: ['problems'] }, line({ type }))]).toEqual([type, true]);
  }
  expect(isWanted({ ...all, types: ['problems'] }, line({ error: 'it broke' }))).toBe(true);
  expect(isWanted({ ...all, types: ['problems'] }, line({}))).toBe(false);
});

test('pauses between attempts grow, differ by chance, end, and are no shorter than the answer asks', () => {
  const failed = attemptResultOf({ status: 500, headers: {} });
  const pauses = [1, 2, 3, 4, 11].map((attempts) => nextAttemptMs(attempts, failed, 0, 0.5));
  expect(pauses).toEqual([5000, 30_000, 120_000, 600_000, 36_000_000]);
  expect(nextAttemptMs(12, failed, 0, 0.5)).toBeNull();
  expect([0, 1].map((random) => nextAttemptMs(1, failed, 0, random))).toEqual([4000, 6000]);
  const asked = attemptResultOf({ status: 429, headers: { 'retry-after': '120' } });
  expect(nextAttemptMs(1, asked, 1000, 0.5)).toBe(121_000);
  expect(attemptResultOf({ status: 503, headers: { 'retry-after': '999999' } }).retryAfterMs).toBe(3_600_000);
});

test('a success ends a row of failures', () => {
  const good = { failures: 0, failingSinceMs: null, lastSuccessMs: null };
  const failed = attemptResultOf({ status: 302, headers: {} });
  const once = healthAfter(good, failed, 5);
  expect(once).toEqual({ failures: 1, failingSinceMs: 5, lastSuccessMs: null });
  expect(healthAfter(once, failed, 9)).toEqual({ failures: 2, failingSinceMs: 5, lastSuccessMs: null });
  expect(healthAfter(once, attemptResultOf({ status: 204, headers: {} }), 9)).toEqual({ ...good, lastSuccessMs: 9 });
});
