import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { LoadSampler, type SamplerParts } from './load-sampler.ts';

const START = 1_765_500_000_000;
let folder: string;
let clock: FakeClock;
let monotonicMs: number;
let awake: { id: string; tenant: string; memoryBytes: number }[];
let known: Set<string>;
let warnings: unknown[];
let uses: Parameters<SamplerParts['feed']['onUse']>[0];
let carried: Parameters<SamplerParts['network']['onCarried']>[0];
let committed: Parameters<SamplerParts['registry']['commitEvents']['onLedgerAppend']>[0];
let sampler: LoadSampler;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-load-'));
  clock = new FakeClock(START);
  monotonicMs = 1000;
  awake = [];
  known = new Set(['acme', 'globex']);
  warnings = [];
  sampler = await started();
});
afterEach(() => {
  sampler.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function started(): Promise<LoadSampler> {
  const leave = () => undefined;
  const log = { warn: (warning: unknown) => warnings.push(warning) } as unknown as SamplerParts['log'];
  const made = new LoadSampler({
    ...{ clock, log, dataFolder: folder, monotonicMs: () => monotonicMs },
    feed: {
      serving: () => awake.map((one) => ({ ...one, id: instanceId(one.id) })),
      onUse: (watcher) => {
        uses = watcher;
        return leave;
      },
      diskBytes: (id) => statSync(join(folder, id), { throwIfNoEntry: false })?.size ?? null,
    },
    network: {
      onCarried: (watcher) => {
        carried = watcher;
        return leave;
      },
    },
    registry: {
      commitEvents: {
        onLedgerAppend: (watcher) => {
          committed = watcher;
          return leave;
        },
      },
      quotas: { tenant: async (tenant) => (known.has(tenant) ? ({} as never) : null) },
    },
  });
  await made.start();
  return made;
}

/** So much later, by both clocks. */
function pass(seconds: number): void {
  clock.advance(seconds);
  monotonicMs += seconds * 1000;
}
function tick(seconds = 10): void {
  pass(seconds);
  sampler.sample();
}
const took = (id: string, tenant: string, cpuSeconds: number, calls = 0) =>
  uses({ id: instanceId(id), tenant, cpuSeconds, calls, memoryBytes: 0 });
const of = (id: string, tenant = 'acme') => sampler.samplesOf({ tenant, id });
const minutesOf = (id: string, tenant = 'acme') => sampler.minutesOf({ tenant, id }, 0, START + 1e9);

test('each awake sandbox, its tenant and the server have a sample each ten seconds', () => {
  writeFileSync(join(folder, 'a'), 'x'.repeat(5000));
  awake = [
    { id: 'a', tenant: 'acme', memoryBytes: 1000 },
    { id: 'b', tenant: 'acme', memoryBytes: 500 },
    { id: 'g', tenant: 'globex', memoryBytes: 100 },
  ];
  took('a', 'acme', 0.5, 2);
  took('a', 'acme', 0.25);
  took('g', 'globex', 1);
  carried({ id: 'b', tenant: 'acme', bytesIn: 300, bytesOut: 40 });
  tick();
  expect(of('a')).toMatchObject([
    {
      ...{ cpuMs: 750, calls: 2, memoryBytes: 1000, bytesIn: 0, measuredMs: 10_000 },
      ...{ fromMs: START, toMs: START + 10_000 },
    },
  ]);
  expect(Math.abs((of('a')[0]?.diskBytes ?? 0) - 5000)).toBeLessThan(3);
  expect(of('b')).toMatchObject([{ cpuMs: 0, memoryBytes: 500, bytesIn: 300, bytesOut: 40, diskBytes: null }]);
  expect(of('')).toMatchObject([{ cpuMs: 750, calls: 2, memoryBytes: 1500, bytesIn: 300, bytesOut: 40 }]);
  expect(of('', '')).toMatchObject([{ cpuMs: 1750, calls: 2, memoryBytes: 1600 }]);
  tick();
  expect(of('a').map(({ cpuMs }) => cpuMs)).toEqual([750, 0]);
  const now = clock.now();
  expect(sampler.top('acme', 0, now, 5)).toMatchObject([
    { name: 'a', cpuMs: 750, calls: 2 },
    { name: 'b', bytesIn: 300 },
  ]);
  expect(sampler.top(null, 0, now, 1)).toMatchObject([{ name: 'globex', cpuMs: 1000 }]);
  expect(sampler.totals).toMatchObject({ bytesIn: 300, bytesOut: 40 });
});

test('what a process took that ended between two samples is in the next one, and then there is a gap', () => {
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  tick();
  took('a', 'acme', 3, 1);
  awake = [];
  tick();
  tick();
  expect(of('a')).toMatchObject([{ cpuMs: 0 }, { calls: 1 }]);
  expect(Math.abs((of('a')[1]?.cpuMs ?? 0) - 3000)).toBeLessThanOrEqual(1);
  // Its next process is another one: nothing of the first is counted again.
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 2000 }];
  tick();
  expect(of('a').map(({ cpuMs, toMs }) => [Math.round(cpuMs / 10) * 10, (toMs - START) / 1000])).toEqual([
    [0, 10],
    [3000, 20],
    [0, 40],
  ]);
});

test.each([
  ['whose monotonic clock stood still', 0],
  ['whose monotonic clock went on', 3_600_000],
])('a machine that slept for an hour, %s, leaves a gap and no spike', (_, wentOnMs) => {
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  tick();
  clock.advance(3600);
  monotonicMs += wentOnMs;
  took('a', 'acme', 0.5);
  tick();
  took('a', 'acme', 1);
  tick();
  const times = of('a').map(({ fromMs, toMs }) => [fromMs - START, toMs - START].map((ms) => ms / 1000));
  expect(times).toEqual(
    wentOnMs === 0
      ? [
          [0, 10],
          [3610, 3620],
          [3620, 3630],
        ]
      : [
          [0, 10],
          [3620, 3630],
        ],
  );
  for (const { cpuMs, measuredMs } of of('a')) expect(cpuMs / measuredMs).toBeLessThanOrEqual(0.1);
  for (const { measuredMs } of minutesOf('a')) expect(measuredMs).toBeLessThanOrEqual(60_000);
  expect(minutesOf('a').map(({ fromMs }) => Math.floor((fromMs - START) / 60_000))).toEqual([0, 60]);
});

test('a clock that is set back takes the time that comes again with it, and set forward leaves a gap', () => {
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  for (let n = 0; n < 30; n += 1) tick();
  clock.advance(-180);
  tick();
  tick();
  const times = of('a').map(({ toMs }) => (toMs - START) / 1000);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times.slice(-3)).toEqual([120, 130, 140]);
  const minutes = minutesOf('a').map(({ fromMs }) => (fromMs - START) / 60_000);
  expect(minutes).toEqual([...new Set(minutes)].sort((one, other) => one - other));
  expect(Math.max(...minutes)).toBeLessThan(3);
  clock.advance(600);
  tick();
  expect((of('a').at(-1)?.fromMs ?? 0) - (of('a').at(-2)?.toMs ?? 0)).toBe(600_000);
});

test('minutes add up to the samples, are written once a minute, and outlive a restart in the midst of one', async () => {
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  for (let n = 0; n < 15; n += 1) {
    took('a', 'acme', 1, 1);
    tick();
  }
  expect(minutesOf('a').map(({ calls, measuredMs }) => [calls, measuredMs])).toEqual([
    [6, 60_000],
    [6, 60_000],
    [3, 30_000],
  ]);
  sampler.stop();
  sampler = await started();
  expect(of('a')).toEqual([]);
  expect(sampler.sinceMs).toBe(clock.now());
  for (let n = 0; n < 2; n += 1) {
    took('a', 'acme', 1, 1);
    tick();
  }
  const stretches = minutesOf('a');
  expect(stretches.reduce((sum, { calls }) => sum + calls, 0)).toBe(17);
  sampler.stop();
  sampler = await started();
  expect(minutesOf('a').at(-1)).toMatchObject({ calls: 5, measuredMs: 50_000, memoryBytes: 1000 });
  expect(minutesOf('', '').reduce((sum, { calls }) => sum + calls, 0)).toBe(17);
  // A day later they are gone.
  pass(86_400);
  for (let n = 0; n < 13; n += 1) tick();
  expect(minutesOf('a').filter(({ fromMs }) => fromMs < START + 180_000)).toEqual([]);
});

test('a forgotten tenant is in no byte of the file, and one that was forgotten elsewhere goes at the start', async () => {
  awake = [
    { id: 'marked-one', tenant: 'acme', memoryBytes: 1000 },
    { id: 'g', tenant: 'globex', memoryBytes: 1000 },
  ];
  for (let n = 0; n < 13; n += 1) tick();
  const bytes = () =>
    readdirSync(join(folder, 'load'))
      .map((name) => readFileSync(join(folder, 'load', name), 'latin1'))
      .join('');
  expect(bytes()).toContain('marked-one');
  committed({ lines: [{ type: 'tenant.forgotten', tenant: 'acme' }] } as unknown as Parameters<typeof committed>[0]);
  expect(bytes()).not.toContain('marked-one');
  expect(bytes()).not.toContain('acme');
  expect(of('marked-one')).toEqual([]);
  expect(minutesOf('g', 'globex').length).toBeGreaterThan(1);
  awake = [];
  sampler.stop();
  known.delete('globex');
  sampler = await started();
  expect(minutesOf('g', 'globex')).toEqual([]);
  expect(bytes()).not.toContain('globex');
});

test('a file that is no database is replaced, and one that cannot be made costs its minutes alone', async () => {
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  for (let n = 0; n < 7; n += 1) tick();
  sampler.stop();
  const path = join(folder, 'load', 'minutes.sqlite');
  writeFileSync(path, 'not a database, and longer than a header of one has to be '.repeat(100));
  sampler = await started();
  for (let n = 0; n < 13; n += 1) tick();
  expect(minutesOf('a').length).toBeGreaterThan(1);
  expect(warnings).toEqual([]);
  sampler.stop();
  rmSync(join(folder, 'load'), { recursive: true });
  writeFileSync(join(folder, 'load'), '');
  sampler = await started();
  for (let n = 0; n < 20; n += 1) tick();
  expect(of('a')).toHaveLength(20);
  expect(warnings).toHaveLength(1);
});

test('sandboxes that sleep cost nothing: no series, no file', () => {
  for (let n = 0; n < 100; n += 1) tick();
  expect(sampler.size).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  awake = [{ id: 'a', tenant: 'acme', memoryBytes: 1000 }];
  tick();
  expect(sampler.size).toBe(3);
  awake = [];
  for (let n = 0; n < 360; n += 1) tick();
  expect(sampler.size).toBe(0);
});

test('five hundred awake sandboxes cost less than a hundredth of a core: samples, files weighed, minutes written', () => {
  awake = Array.from({ length: 500 }, (_, n) => ({ id: `box-${n}`, tenant: `t-${n % 20}`, memoryBytes: 50e6 + n }));
  for (const { id } of awake) writeFileSync(join(folder, id), id);
  tick();
  const minutes = 10;
  const before = process.cpuUsage();
  for (let n = 0; n < minutes * 6; n += 1) {
    for (const { id, tenant } of awake) took(id, tenant, 0.1, 1);
    tick();
  }
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / (minutes * 60);
  expect(share).toBeLessThan(0.01);
  expect(minutesOf('box-499', 't-19').length).toBeGreaterThanOrEqual(minutes);
  process.stdout.write(`500 awake: ${(share * 100).toFixed(3)} % of a core\n`);
});
