/** When a host counts as dead: by examples, and over random schedules, on which broken rules are found out. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostObserver, type HostReading, type HostVerdict } from './host-observer.ts';
import { LeaseTerm } from './lease-term.ts';
import {
  type ObserverPolicy,
  type Outage,
  type Schedule,
  simulate,
  type TermPolicy,
} from './testing/host-simulation.ts';

const LEASE_MS = 10_000;
const UNTIL_MS = 120_000;
const MOST_LATENCY_MS = 60;
const RUNS = 400;
/** Broken rules are looked for in so many schedules. */
const MOST_RUNS = 3000;

const reading = (askedMs: number, renewals: number, token: string | null = 't', tookMs = 10): HostReading => ({
  askedMs,
  answeredMs: askedMs + tookMs,
  hosts: [{ name: 'one', token, renewals, leaseMs: LEASE_MS }],
});

/** Reads the same number each second, from `from` to `to` of them; returns the last verdict. */
function watchOn(observer: HostObserver, from: number, to: number, renewals = 1): HostVerdict | undefined {
  let verdict: HostVerdict | undefined;
  for (let second = from; second <= to; second += 1)
    verdict = observer.read(reading(second * 1000, renewals)).get('one');
  return verdict;
}

describe('an observer', () => {
  test('takes a host for dead that it saw unchanged for one lease, from an answer to a later question', () => {
    const observer = new HostObserver();
    expect(observer.verdictOf('one')).toBe('held');
    expect(watchOn(observer, 0, 10)).toBe('held');
    expect(watchOn(observer, 11, 11)).toBe('dead');
    expect(observer.verdictOf('one')).toBe('dead');
    expect(watchOn(observer, 12, 12, 2)).toBe('held');
    expect(observer.verdictOf('two')).toBe('free');
  });

  test('starts again when the connection was lost', () => {
    const observer = new HostObserver();
    watchOn(observer, 0, 9);
    observer.connectionLost();
    expect(watchOn(observer, 10, 20)).toBe('held');
    expect(watchOn(observer, 21, 21)).toBe('dead');
  });

  test('starts again after a silence, though no connection was lost', () => {
    const observer = new HostObserver();
    watchOn(observer, 0, 6);
    expect(observer.read(reading(7000, 1, 't', 5000)).get('one')).toBe('held');
    expect(watchOn(observer, 13, 21)).toBe('held');
    expect(watchOn(observer, 22, 22)).toBe('dead');
  });

  test('takes another start of the same name for alive, whatever its number is', () => {
    const observer = new HostObserver();
    watchOn(observer, 0, 10);
    expect(observer.read(reading(11_000, 1, 'another')).get('one')).toBe('held');
  });

  test('takes a number that went back for a renewal: the database was set back', () => {
    const observer = new HostObserver();
    watchOn(observer, 0, 10, 7);
    expect(watchOn(observer, 11, 11, 6)).toBe('held');
  });

  test('sees a name that was handed back, or has no lease, as free', () => {
    const observer = new HostObserver();
    watchOn(observer, 0, 11);
    expect(observer.read(reading(12_000, 1, null)).get('one')).toBe('free');
    expect(observer.verdictOf('one')).toBe('free');
    const hosts = [{ name: 'one', token: 't', renewals: 1, leaseMs: null }];
    expect(observer.read({ askedMs: 13_000, answeredMs: 13_001, hosts }).get('one')).toBe('free');
  });
});

const whole = (min: number, max: number) => fc.integer({ min, max });
const spanOf = (longest: number) =>
  fc.tuple(whole(0, UNTIL_MS), whole(1, longest)).map(([from, length]) => ({ from, to: from + length }));
const latencies = fc.array(whole(1, MOST_LATENCY_MS), { minLength: 1, maxLength: 12 });
const speed = fc.double({ min: 0.9, max: 1.1, noNaN: true });
/** An hour and more, either way, or nothing. */
const wall = { wallOff: fc.constantFrom(0, 3_600_000, -3_600_000, 86_400_000), wallOffFrom: whole(0, UNTIL_MS) };

const KINDS = fc.constantFrom('cut' as const, 'hang' as const, 'stall' as const);

/** Anything may happen to anybody. */
const anything: fc.Arbitrary<Schedule> = fc.record({
  leaseMs: fc.constant(LEASE_MS),
  untilMs: fc.constant(UNTIL_MS),
  host: fc.record({
    ...{ speed, ...wall },
    stops: fc.array(spanOf(40_000), { maxLength: 2 }),
    sleeps: fc.array(spanOf(40_000), { maxLength: 2 }),
  }),
  observer: fc.record({
    ...{ speed, ...wall },
    stops: fc.array(spanOf(40_000), { maxLength: 2 }),
    sleeps: fc.array(spanOf(40_000), { maxLength: 1 }),
  }),
  outages: fc
    .array(
      fc.record({
        span: spanOf(40_000),
        kind: KINDS,
        whose: fc.constantFrom('all' as const, 'host' as const, 'observer' as const),
      }),
      { maxLength: 4 },
    )
    .map((several): Outage[] => several.map(({ span, ...one }) => ({ ...span, ...one }))),
  crashMs: fc.option(whole(0, UNTIL_MS)),
  latencies,
});

/** Nothing happens to the host: the database is away at times, clocks are wrong, and the observer does as it likes. */
const noFault: fc.Arbitrary<Schedule> = fc
  .record({
    anything,
    gaps: fc.array(
      fc.record({
        before: whole(LEASE_MS * 2, LEASE_MS * 4),
        length: whole(1, 40_000),
        kind: KINDS,
        whose: fc.constantFrom('all' as const, 'all' as const, 'observer' as const),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ anything: given, gaps }) => {
    let at = 0;
    const outages = gaps.map(({ before, length, kind, whose }): Outage => {
      const from = at + before;
      at = from + length;
      return { from, to: at, kind, whose };
    });
    return { ...given, host: { ...given.host, stops: [], sleeps: [] }, outages, crashMs: null };
  });

const REAL = {
  observer: (): ObserverPolicy => new HostObserver(),
  term: (): TermPolicy => new LeaseTerm(LEASE_MS),
};
type Policies = typeof REAL;

/** Whoever is taken over from does not act any more. */
const isSafe = (schedule: Schedule, policies: Policies) => (simulate(schedule, policies)?.leftMs ?? 0) === 0;
/** Nobody is taken over from. */
const isPatient = (schedule: Schedule, policies: Policies) => simulate(schedule, policies) === null;

describe('over random schedules', () => {
  test('a host that is taken over from has stopped acting before', () => {
    fc.assert(
      fc.property(anything, (schedule) => isSafe(schedule, REAL)),
      { numRuns: RUNS },
    );
  });

  test('a host without a fault is never taken over from: not when the database is away, nor when clocks are wrong', () => {
    fc.assert(
      fc.property(noFault, (schedule) => isPatient(schedule, REAL)),
      { numRuns: RUNS },
    );
  });

  test('a host that is gone is taken over from soon after one lease', () => {
    fc.assert(
      fc.property(noFault, whole(LEASE_MS, UNTIL_MS - 2 * LEASE_MS), (given, crashMs) => {
        const observer = { ...given.observer, stops: [], sleeps: [] };
        const schedule = { ...given, observer, outages: [], crashMs };
        const takeover = simulate(schedule, REAL);
        // The first look after the crash, one lease, and a look: by a clock that is up to a tenth slower.
        return takeover !== null && takeover.atMs - crashMs < (LEASE_MS * (1 + 2 / 8)) / 0.9 + 10 * MOST_LATENCY_MS;
      }),
      { numRuns: RUNS },
    );
  });
});

/** The rules of `HostObserver`, but for one. */
function brokenObserver({ isDeaf = false, ignoresGaps = false }): ObserverPolicy {
  const seen = new Map<string, { renewals: number; sinceMs: number }>();
  let answered: number | null = null;
  return {
    connectionLost() {
      if (isDeaf) return;
      seen.clear();
      answered = null;
    },
    read({ askedMs, answeredMs, hosts }) {
      const gap = answered === null ? 0 : answeredMs - answered;
      answered = answeredMs;
      return new Map(
        hosts.map(({ name, renewals }) => {
          const before = seen.get(name);
          const isSame = before?.renewals === renewals && (ignoresGaps || gap <= LEASE_MS / 3);
          const sinceMs = isSame ? before.sinceMs : answeredMs;
          seen.set(name, { renewals, sinceMs });
          return [name, isSame && askedMs - sinceMs >= LEASE_MS ? 'dead' : 'held'] as const;
        }),
      );
    },
  };
}

/** A lease that is counted otherwise. */
function brokenTerm(broken: { margin?: number; fromAnswer?: boolean; byOneClock?: boolean }): TermPolicy {
  const { margin = 0.3, fromAnswer = false, byOneClock = false } = broken;
  let since = { monotonicMs: Number.NEGATIVE_INFINITY, uptimeMs: Number.NEGATIVE_INFINITY };
  return {
    renewed(asked, answered) {
      const from = fromAnswer ? answered : asked;
      if (from.monotonicMs > since.monotonicMs) since = from;
    },
    leftMs(now) {
      const passed = [now.monotonicMs - since.monotonicMs, byOneClock ? 0 : now.uptimeMs - since.uptimeMs];
      return Math.max(0, LEASE_MS * (1 - margin) - Math.max(...passed));
    },
  };
}

const byWallClock = (): ObserverPolicy => ({
  connectionLost: () => undefined,
  read: ({ hosts, wallMs, renewedMs }) =>
    new Map(hosts.map(({ name }) => [name, wallMs - renewedMs >= LEASE_MS ? ('dead' as const) : ('held' as const)])),
});

/** A host is stopped while an answer comes, and reaches nobody afterwards: seldom among all that may happen. */
const lateAnswers: fc.Arbitrary<Schedule> = fc
  .record({
    from: whole(0, UNTIL_MS / 2),
    length: whole(5000, 9000),
    latencies: fc.array(whole(400, 700), { minLength: 1, maxLength: 4 }),
  })
  .map(({ from, length, latencies }) => {
    const still = { speed: 1, wallOff: 0, wallOffFrom: 0, stops: [], sleeps: [] };
    const to = from + length;
    return {
      ...{ leaseMs: LEASE_MS, untilMs: UNTIL_MS, crashMs: null, latencies },
      host: { ...still, stops: [{ from, to }] },
      observer: still,
      outages: [{ from: to, to: UNTIL_MS, kind: 'cut', whose: 'host' }],
    };
  });

test('an answer that is late takes nothing from what is safe', () => {
  fc.assert(
    fc.property(lateAnswers, (schedule) => isSafe(schedule, REAL)),
    { numRuns: RUNS },
  );
});

describe('a broken rule is found out', () => {
  const failsOn = (schedules: fc.Arbitrary<Schedule>, holds: (schedule: Schedule) => boolean) =>
    fc.check(fc.property(schedules, holds), { numRuns: MOST_RUNS, endOnFailure: true }).failed;

  test.each([
    ['the wall clock decides', byWallClock],
    ['time without a connection counts', () => brokenObserver({ isDeaf: true, ignoresGaps: true })],
    ['a silence counts', () => brokenObserver({ ignoresGaps: true })],
  ] as const)('where %s, a host without a fault is taken over from', (_what, observer) => {
    expect(failsOn(noFault, (schedule) => isPatient(schedule, { ...REAL, observer }))).toBe(true);
  });

  test.each([
    ['the wall clock decides', { observer: byWallClock }],
    ['a lease has no margin', { term: () => brokenTerm({ margin: 0 }) }],
    ['a sleep of the machine does not count', { term: () => brokenTerm({ byOneClock: true }) }],
  ] as const)('where %s, a host that acts is taken over from', (_what, broken) => {
    expect(failsOn(anything, (schedule) => isSafe(schedule, { ...REAL, ...broken }))).toBe(true);
  });

  test('where a lease is counted from the answer to its renewal, a host that acts is taken over from', () => {
    const term = () => brokenTerm({ fromAnswer: true });
    expect(failsOn(lateAnswers, (schedule) => isSafe(schedule, { ...REAL, term }))).toBe(true);
  });

  test('and what is broken here is all that is: the same rules without a fault hold', () => {
    const whole = { observer: () => brokenObserver({}), term: () => brokenTerm({}) };
    expect(failsOn(noFault, (schedule) => isPatient(schedule, whole))).toBe(false);
    expect(failsOn(anything, (schedule) => isSafe(schedule, whole))).toBe(false);
  });
});
