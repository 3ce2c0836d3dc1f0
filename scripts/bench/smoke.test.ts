import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { areInstalled, BENCH_PEERS } from '../peers.ts';
import { measureBundles } from './bundles.ts';
import { measureBurst } from './burst.ts';
import { measureCopies } from './copies.ts';
import { measureDensity } from './density.ts';
import { measureFiles } from './files.ts';
import { measureFleet } from './fleet.ts';
import { measureMemory } from './memory.ts';
import { measureNeighbours } from './neighbours.ts';
import { measurePast } from './past.ts';
import { measureRegistry } from './registry.ts';
import { measureRegistryPostgres } from './registry-postgres.ts';
import { measureReplica, measureReplicaAtRest } from './replica.ts';
import { measureRestarts } from './restarts.ts';
import type { PartResult } from './result.ts';
import { measureSchedules } from './schedules.ts';
import { measureSpaced } from './spaced.ts';
import { measureStarts } from './starts.ts';
import { measureThroughput } from './throughput.ts';
import { measureWakes } from './wakes.ts';
import { measureWarm } from './warm.ts';
import { measureWorkbooks } from './workbooks.ts';

/** A part as small as it gets, for real: processes, HTTP, files. */
const LONGEST_MS = 600_000;

/**
 * What must hold of any result: every series is positive and beside its floor, and every sentence is there. A figure
 * whose name begins with `more` is a difference, of any sign.
 */
function expectWhole({ series, figures }: PartResult): void {
  const names = series.map(({ what }) => what);
  expect(new Set(names).size).toBe(names.length);
  for (const { what, samples, p50, floor, excludes } of series) {
    expect(samples, what).toBeGreaterThan(0);
    expect(p50, what).toBeGreaterThan(0);
    if (floor !== null) expect(names).toContain(floor);
    expect(excludes, what).toMatch(/\.$/);
  }
  expect(series.some(({ floor }) => floor === null)).toBe(true);
  for (const { what, measured, excludes } of figures) {
    expect(measured, what).toBeGreaterThan(what.startsWith('more ') ? Number.NEGATIVE_INFINITY : 0);
    expect(excludes, what).toMatch(/\.$/);
  }
}

test('wakes and hot calls beside a bare server', { timeout: LONGEST_MS }, async () => {
  // Ratios of a machine that runs other tests prove nothing: `npm run bench -- --check` holds the bars.
  expectWhole(await measureWakes({ rounds: 2, largeMebibytes: 2 }));
});

test('the processor time of a start', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureStarts(1, 10));
});

test('the memory of hot sandboxes', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureMemory(2, 0));
});

test('copies and bundles of a large sandbox beside cp', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureCopies(2, 1));
  expectWhole(await measureBundles(2, 1));
});

test('a registry beside a smaller one', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureRegistry(2000, 1));
});

test('a registry on Postgres beside one in a file', { timeout: LONGEST_MS }, async () => {
  const size = { writes: { rounds: 1, sliceMs: 100 }, lists: { rows: 2000, rounds: 1 }, wakes: 1 };
  const result = await measureRegistryPostgres(size);
  if (result !== null) expectWhole(result);
});

test('writes, suspensions and a restore with a replica', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureReplica({ rounds: 1, sliceMs: 100, suspensions: 1 }, { mebibytes: 6, rounds: 1 }));
});

test('idle sandboxes with a replica', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureReplicaAtRest({ asleep: 2, awake: 1, slices: 1, sliceMs: 500, settleMs: 0 }));
});

test('several servers, where a PostgreSQL server is', { timeout: LONGEST_MS }, async () => {
  const result = await measureFleet({
    hops: 1,
    wakes: { rounds: 1, sandboxes: 3, clients: 2 },
    many: { hosts: 5, sandboxes: 1000, rounds: 1 },
  });
  if (result !== null) expectWhole(result);
});

test('looks at a sandbox as it was', { timeout: LONGEST_MS }, async () => {
  expectWhole(
    await measurePast({
      looks: { mebibytes: 2, rounds: 1 },
      comparison: { files: 120, rounds: 1 },
      readers: { few: 2, many: 12, rounds: 1 },
    }),
  );
});

test('many hot sandboxes asked at once', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureDensity(4, 1, 0));
});

test('calls beside a busy tenant', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureNeighbours(1, 200));
});

test('calls while schedules are due, and rounds out of many', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureSchedules({ due: 3, slices: 1, sliceMs: 200, leadSeconds: 8, rounds: 1 }));
});

test('the plan of a large source, and health while hostile ones are refused', { timeout: LONGEST_MS }, async () => {
  expectWhole(await measureWorkbooks({ components: 100, rounds: 1, slices: 1, sliceMs: 200 }));
});

test('the first result of a warm sandbox, or nothing where no process is paused', { timeout: LONGEST_MS }, async () => {
  const result = await measureWarm(1, 2);
  if (result !== null) expectWhole(result);
});

// The peers are two hundred megabytes, which `npm run bench` installs and `npm test` does not.
describe.runIf(existsSync(join(BENCH_PEERS, 'node_modules')) && areInstalled(BENCH_PEERS))('beside peers', () => {
  test('a burst', { timeout: LONGEST_MS }, async () => {
    const size = { rounds: 1, few: { sandboxes: 3, clients: 2 }, many: { sandboxes: 3 } };
    expectWhole(await measureBurst({ ...size, sustained: { wakes: 2, clients: 2 } }));
  });

  test('calls with pauses', { timeout: LONGEST_MS }, async () => {
    expectWhole(await measureSpaced(1, 200, 0.05));
  });

  test('many clients', { timeout: LONGEST_MS }, async () => {
    expectWhole(await measureThroughput(1, 50));
  });

  test('restarts', { timeout: LONGEST_MS }, async () => {
    expectWhole(await measureRestarts(1, 1));
  });

  test('files', { timeout: LONGEST_MS }, async () => {
    expectWhole(await measureFiles(1));
  });
});
