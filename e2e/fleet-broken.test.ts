/**
 * The drill of hosts finds each server that breaks one of the rules which keep a sandbox on one host, another one every
 * day.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { HAS_POSTGRES } from '../lib/registry/testing/postgres-cluster.ts';
import { DAY, partOf } from '../lib/testing/draw.ts';
import { BROKEN_FLEETS } from '../lib/testing/fleet/broken.ts';
import { drillFleet } from '../lib/testing/fleet/drill.ts';
import type { FleetFault } from '../lib/testing/fleet/schedule.ts';

/** So long that a busy machine renews it in time: what is found is to be the variant's. */
const LEASE_MS = 6000;
/** Rounds until it is found, at most. */
const ROUNDS = 3;
const root = mkdtempSync(join(tmpdir(), 'winterdock-fleet-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const fault = (kind: FleetFault['kind'], host: number, from: number, leases: number): FleetFault => ({
  ...{ kind, host, afterMs: from * LEASE_MS, forMs: leases * LEASE_MS },
});

/** What goes wrong, in leases, and what is found of it. */
const FOUND: Record<string, { faults: FleetFault[]; finding: RegExp }> = {
  'no-self-fencing': { faults: [fault('cut-registry', 0, 1, 4)], finding: /answered by a host that may not act/ },
  'no-owner-proof': {
    faults: [fault('cut-registry', 0, 1, 6)],
    finding: /not linearisable: \w+ \S+ of synced/,
  },
  'wall-clock-of-the-holder': {
    faults: [fault('clock-behind', 0, 1.5, 5), fault('cut-registry', 0, 1, 5)],
    finding: /answered by a host that may not act/,
  },
  'wall-clock-of-the-observer': {
    faults: [fault('clock-ahead', 1, 1, 3)],
    finding: /for dead, which renewed its lease/,
  },
  'no-owner': { faults: [], finding: /no answer of the product's|not linearisable/ },
};

describe.skipIf(!HAS_POSTGRES)('the drill of hosts', () => {
  test('knows a schedule for each of the broken variants', () => {
    expect(Object.keys(FOUND)).toEqual(BROKEN_FLEETS);
  });

  const variants = Object.entries(FOUND);
  test.each(partOf(variants, variants.length, DAY))(
    'finds servers of the variant `%s`',
    async (variant, { faults, finding }) => {
      const forMs = Math.max(6 * LEASE_MS, ...faults.map((one) => one.afterMs + one.forMs + LEASE_MS));
      const rounds = Array(ROUNDS).fill({ faults, forMs });
      const report = await drillFleet({ folder: join(root, variant), leaseMs: LEASE_MS, seed: 1, rounds, variant });
      expect(report.findings).toContainEqual(expect.stringMatching(finding));
    },
  );
});
