import { expect, test } from 'vitest';
import { FLEET_FAULTS, type FleetRound, roundsOf, roundText } from './schedule.ts';

function first(count: number, seed: number): FleetRound[] {
  const rounds: FleetRound[] = [];
  for (const round of roundsOf(seed, { leaseMs: 3000, hosts: 3 })) {
    rounds.push(round);
    if (rounds.length === count) break;
  }
  return rounds;
}

test('a seed has its rounds, the same each time, and another one has others', () => {
  expect(first(20, 7)).toEqual(first(20, 7));
  expect(first(20, 7)).not.toEqual(first(20, 8));
});

test('every kind of fault comes before one comes again, of two hosts that fail beside each other', () => {
  for (const seed of [1, 2, 3]) {
    const rounds = first(FLEET_FAULTS.length, seed);
    const kinds = rounds.flatMap(({ faults }) => faults.map(({ kind }) => kind));
    for (let at = 0; at < kinds.length; at += FLEET_FAULTS.length)
      expect(kinds.slice(at, at + FLEET_FAULTS.length).toSorted()).toEqual([...FLEET_FAULTS].toSorted());
    for (const { faults, forMs } of rounds) {
      const [one, other] = faults;
      expect(one?.host).not.toBe(other?.host);
      expect(other?.afterMs).toBeLessThanOrEqual((one?.afterMs ?? 0) + (one?.forMs ?? 0));
      for (const { afterMs, forMs: lasts } of faults) expect(forMs).toBeGreaterThan(afterMs + lasts);
    }
  }
});

test('a round is said before it begins', () => {
  const faults = [{ kind: 'crash' as const, host: 1, afterMs: 3000, forMs: 9000 }];
  expect(roundText({ faults, forMs: 15_000 })).toBe('crash of host 1 from 3.0 s for 9.0 s');
});
