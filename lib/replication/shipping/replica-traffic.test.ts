import { expect, test } from 'vitest';
import { ReplicaTraffic } from './replica-traffic.ts';

test('a month is estimated from what was written, once that was long enough', () => {
  let now = 5000;
  const traffic = new ReplicaTraffic(() => now);
  traffic.wrote(1000);
  expect(traffic.month).toBeNull();
  now += 3_600_000;
  traffic.wrote(11 * 1024 * 1024);
  // One, and three parts with their beginning and end, each hour of 720.
  expect(traffic.month).toEqual({ requests: 6 * 720, bytes: (1000 + 11 * 1024 * 1024) * 720 });
});
