import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LeaseTerm } from './lease-term.ts';

const at = (monotonicMs: number, uptimeMs = monotonicMs) => ({ monotonicMs, uptimeMs });

test('before its first renewal nobody acts', () => {
  expect(new LeaseTerm(10_000).leftMs(at(0))).toBe(0);
});

test('a holder acts until 30 % before the end of the lease, counted from before it asked for the renewal', () => {
  const term = new LeaseTerm(10_000);
  term.renewed(at(1000));
  expect([1000, 4000, 7999, 8000, 9000].map((now) => term.leftMs(at(now)))).toEqual([7000, 4000, 1, 0, 0]);
});

test('a machine that slept has less time left than its monotonic clock says', () => {
  const term = new LeaseTerm(10_000);
  term.renewed(at(1000, 51_000));
  expect(term.leftMs(at(2000, 52_000))).toBe(6000);
  expect(term.leftMs(at(2000, 57_000))).toBe(1000);
  expect(term.leftMs(at(2000, 3_651_000))).toBe(0);
});

test('in whatever order answers come, the renewal that was asked for last counts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1 }),
      fc.nat(20_000),
      fc.integer({ min: 1000, max: 600_000 }),
      (asked, later, leaseMs) => {
        const term = new LeaseTerm(leaseMs);
        for (const one of asked) term.renewed(at(one));
        const last = Math.max(...asked);
        expect(term.leftMs(at(last + later))).toBeCloseTo(Math.max(0, leaseMs * 0.7 - later), 6);
      },
    ),
  );
});
