import { afterEach, expect, test, vi } from 'vitest';
import { createRateLimits } from './rate-limits.ts';

afterEach(() => {
  vi.useRealTimers();
});

const OFF = { ratePerKey: 0, ratePerAddress: 0, rateWrongKeys: 0, costPerAddress: 0 };
const HERE = '192.0.2.1';
const THERE = '198.51.100.7';

const outcome = (attempt: Promise<void>) =>
  attempt.then(
    () => 'let through',
    (error: { code: string; retryAfterSeconds: number }) => `${error.code} ${error.retryAfterSeconds}`,
  );

test('nothing is counted when the settings have no limit', async () => {
  const limits = createRateLimits(OFF);
  for (let n = 0; n < 1000; n += 1) await limits.countRequest('key:one', HERE);
  for (let n = 0; n < 1000; n += 1) await limits.countWrongKey(HERE);
});

test('five wrong passwords from one address block it for a quarter of an hour, for that account', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const limits = createRateLimits(OFF);
  for (let n = 0; n < 5; n += 1) await limits.countAttempt('ada@example.com', HERE, false);
  expect(await outcome(limits.countAttempt('ada@example.com', HERE, false))).toBe('rate_limited 900');
  expect(await outcome(limits.countAttempt('bob@example.com', HERE, false))).toBe('let through');
  expect(await outcome(limits.countAttempt('ada@example.com', THERE, false))).toBe('let through');
  vi.advanceTimersByTime(901_000);
  expect(await outcome(limits.countAttempt('ada@example.com', HERE, false))).toBe('let through');
});

test('counts are in memory: another start resets them', async () => {
  const before = createRateLimits(OFF);
  for (let n = 0; n < 5; n += 1) await before.countAttempt('ada@example.com', HERE, false);
  expect(await outcome(before.countAttempt('ada@example.com', HERE, false))).toMatch(/^rate_limited/);
  expect(await outcome(createRateLimits(OFF).countAttempt('ada@example.com', HERE, false))).toBe('let through');
});

test('concurrent attempts cannot exceed the limit', async () => {
  const limits = createRateLimits(OFF);
  const all = await Promise.all(
    Array.from({ length: 50 }, () => outcome(limits.countAttempt('ada@example.com', HERE, false))),
  );
  expect(all.filter((one) => one === 'let through')).toHaveLength(5);
});

test('a right password resets the count of wrong ones', async () => {
  const limits = createRateLimits(OFF);
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 4; n += 1) await limits.countAttempt('ada@example.com', HERE, true);
    await limits.countAttempt('ada@example.com', HERE, true);
    await limits.acceptPassword('ada@example.com', HERE);
    if (round % 5 === 4) break;
  }
  expect(await outcome(limits.countAttempt('ada@example.com', HERE, true))).toBe('let through');
});

test('one address cannot try a few passwords on every account', async () => {
  const limits = createRateLimits(OFF);
  for (let n = 0; n < 30; n += 1) await limits.countAttempt(`person-${n}@example.com`, HERE, false);
  expect(await outcome(limits.countAttempt('one-more@example.com', HERE, false))).toMatch(/^rate_limited/);
  expect(await outcome(limits.countAttempt('one-more@example.com', THERE, false))).toBe('let through');
});

test('attempts from other addresses cannot lock a person out of an address with an open session', async () => {
  const limits = createRateLimits(OFF);
  const attempts = [];
  for (let n = 0; n < 100; n += 1)
    attempts.push(await outcome(limits.countAttempt('ada@example.com', `10.0.0.${n}`, false)));
  expect(attempts.slice(0, 60).every((one) => one === 'let through')).toBe(true);
  expect(attempts.slice(60).every((one) => one.startsWith('rate_limited'))).toBe(true);
  expect(await outcome(limits.countAttempt('ada@example.com', THERE, false))).toMatch(/^rate_limited/);
  expect(await outcome(limits.countAttempt('ada@example.com', HERE, true))).toBe('let through');
});

test('strangers of one address who take all of its time wait for the rest of ten seconds, and others do not', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const limits = createRateLimits({ ...OFF, costPerAddress: 2000 });
  for (let n = 0; n < 199; n += 1) await limits.countCost(HERE, 10);
  for (let n = 0; n < 10_000; n += 1) await limits.countCost(HERE, 0.4);
  expect(await outcome(limits.checkCost(HERE))).toBe('let through');
  await limits.countCost(HERE, 10);
  expect(await outcome(limits.checkCost(HERE))).toBe('rate_limited 10');
  expect(await outcome(limits.checkCost(THERE))).toBe('let through');
  vi.advanceTimersByTime(10_001);
  expect(await outcome(limits.checkCost(HERE))).toBe('let through');
});
