/**
 * A round of the drill of hosts, another one every day: `npm run drill:fleet` runs for hours, and the same again by its
 * seed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { HAS_POSTGRES } from '../lib/registry/testing/postgres-cluster.ts';
import { DAY, DRAWN_BY } from '../lib/testing/draw.ts';
import { drillFleet } from '../lib/testing/fleet/drill.ts';
import { roundsOf } from '../lib/testing/fleet/schedule.ts';

const LEASE_MS = 3000;
const root = mkdtempSync(join(tmpdir(), 'winterdock-fleet-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(!HAS_POSTGRES)('three servers on one registry and one store', () => {
  test('answer what was written last, whichever is asked, while hosts, connections, clocks and the database fail', async () => {
    const [first] = roundsOf(DAY, { leaseMs: LEASE_MS, hosts: 3 });
    if (first === undefined) throw new Error('There is no round.');
    const report = await drillFleet({ folder: join(root, 'day'), leaseMs: LEASE_MS, seed: DAY, rounds: [first] });
    process.stdout.write(`npm run drill:fleet -- --seed ${DAY} --rounds 1: ${JSON.stringify(report)}\n`);
    expect(report.findings, DRAWN_BY).toEqual([]);
    expect(report.asked.done).toBeGreaterThan(0);
  });
});
