import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { ReplicaHealth, type ReplicaLag } from './replica-health.ts';
import { ReplicaWatch } from './replica-watch.ts';

let registry: Registry;
let clock: FakeClock;
let lags: ReplicaLag[];
let report: ReplicaHealth;
const shippedRegistry = { behindMs: 0 };
beforeEach(async () => {
  clock = new FakeClock();
  registry = await openRegistryOfTests(null);
  lags = [];
  shippedRegistry.behindMs = 0;
  report = new ReplicaHealth({
    retention: '',
    traffic: { month: null },
    url: 'file:///replica',
    replicate: '1s',
    spoolLimitBytes: 1,
    files: { lags: () => lags, away: { sinceMs: clock.now(), why: 'it is full' }, spoolBytes: 0, stale: new Set() },
    refusal: () => null,
    registry: shippedRegistry,
    requests: () => [],
    isShared: false,
    monotonic: () => clock.now(),
    clock,
  });
});
afterEach(() => registry.close());

const watch = async () => {
  const made = new ReplicaWatch({ report, registry, clock, log: createLogger('silent'), monotonic: () => clock.now() });
  await made.start();
  return made;
};
const told = async () =>
  (await registry.ledger.page({}, 50)).rows
    .filter(({ type }) => type.startsWith('replica.'))
    .map(({ type, reason }) => `${type}: ${reason}`)
    .reverse();
/** Looks `times` times, five seconds apart. */
const look = async (on: ReplicaWatch, times: number) => {
  for (let time = 0; time < times; time += 1) {
    await on.look();
    clock.advance(5);
  }
};

test('a lag beyond its promise is told once it has lasted a minute, and so is its end, over a restart too', async () => {
  const first = await watch();
  // As far as was promised, and the grace: not late.
  lags = [
    { behindMs: 6000, promisedMs: 1000, isAwake: true },
    { behindMs: 60_000, promisedMs: 60_000, isAwake: true },
  ];
  await look(first, 30);
  expect([await told(), report.late]).toEqual([[], null]);

  lags = [
    { behindMs: 20_000, promisedMs: 1000, isAwake: true },
    { behindMs: 0, promisedMs: 1000, isAwake: true },
    { behindMs: 90_000, promisedMs: 60_000, isAwake: true },
  ];
  await look(first, 11);
  expect(await told()).toEqual([]);
  // Once well again in between, the minute begins anew.
  const late = lags;
  lags = [];
  await look(first, 1);
  lags = late;
  await look(first, 12);
  expect(await told()).toEqual([]);
  const since = Math.floor(clock.now() / 1000) - 60;
  await look(first, 3);
  const behind = 'replica.behind: 2 sandboxes are more behind than promised, 90 s at most: it is full';
  expect(await told()).toEqual([behind]);
  expect(report.late).toEqual({ since, sandboxes: 2, mostMs: 90_000, isRegistry: false });
  await first.stop();

  const second = await watch();
  await look(second, 20);
  expect([await told(), report.late?.since]).toEqual([[behind], since]);
  lags = [];
  await look(second, 2);
  expect(report.late).toBeNull();
  const [, end] = await told();
  expect(end).toMatch(/^replica\.caught_up: after \d+ s$/);
  await second.stop();
  const third = await watch();
  await look(third, 1);
  expect(await told()).toHaveLength(2);
  await third.stop();
});

test('lags are summed without ids', () => {
  expect(report.lag()).toEqual({ open: 0, behind: 0, maxMs: 0, meanMs: 0, registryMs: 0 });
  lags = [
    { behindMs: 0, promisedMs: 1000, isAwake: true },
    { behindMs: 3000, promisedMs: 1000, isAwake: true },
  ];
  expect(report.lag()).toEqual({ open: 2, behind: 1, maxMs: 3000, meanMs: 1500, registryMs: 0 });
  // One at rest that is still to be shipped.
  lags = [{ behindMs: 2000, promisedMs: Number.POSITIVE_INFINITY, isAwake: false }];
  shippedRegistry.behindMs = 700;
  expect(report.lag()).toEqual({ open: 0, behind: 1, maxMs: 2000, meanMs: 2000, registryMs: 700 });
});

test('a registry that is more behind than a second, and a sandbox whose answers wait, are told as others', async () => {
  const made = await watch();
  shippedRegistry.behindMs = 7000;
  await look(made, 13);
  const [of] = await told();
  expect(of).toBe('replica.behind: the registry is more behind than promised, 7 s at most: it is full');
  expect(report.late).toMatchObject({ sandboxes: 0, isRegistry: true });
  lags = [{ behindMs: 6000, promisedMs: 0, isAwake: true }];
  expect(report.overdue()).toEqual({ sandboxes: 1, mostMs: 7000, isRegistry: true });
  shippedRegistry.behindMs = 0;
  lags = [{ behindMs: 5000, promisedMs: 0, isAwake: true }];
  expect(report.overdue()).toBeNull();
  await made.stop();
});
