import { expect, test } from 'vitest';
import type { HostRecord } from '../registry/hosts.ts';
import { waitForFormerHosts } from './former-host.ts';

const LEASE_MS = 800;
const OWN = 'did:key:own';

const row = (over: Partial<HostRecord> = {}): HostRecord => ({
  name: 'former',
  term: 1,
  sinceMs: 0,
  url: null,
  capacity: null,
  version: null,
  labels: null,
  isDraining: false,
  drain: null,
  renewals: 5,
  renewedMs: null,
  leaseMs: LEASE_MS,
  token: 'of its start',
  publicKey: 'did:key:other',
  ...over,
});

/** Waits; resolves with how long that took, and what was told. */
async function waited(list: () => HostRecord[]): Promise<{ tookMs: number; told: string[] }> {
  const told: string[] = [];
  const begun = performance.now();
  await waitForFormerHosts({ hosts: { list: async () => list() }, publicKey: OWN, tell: (line) => told.push(line) });
  return { tookMs: performance.now() - begun, told };
}

test.each([
  ['there is no other', () => []],
  ['it handed its name back', () => [row({ token: null })]],
  ['it has no lease', () => [row({ leaseMs: null })]],
  ['it was begun on this data folder', () => [row({ publicKey: OWN })]],
])('nobody waits for a former host where %s', async (_where, list) => {
  const { told } = await waited(list);
  expect(told).toEqual([]);
});

test('one that has not handed its name back is waited for until its lease is over, and said', async () => {
  const { tookMs, told } = await waited(() => [row()]);
  expect(tookMs).toBeGreaterThanOrEqual(LEASE_MS);
  expect(told).toEqual([
    'The host former has not handed the registry back. This server begins when that one has not renewed its lease for 1 s.',
  ]);
});

test('as long as it renews it is waited for', async () => {
  const begun = performance.now();
  const renewingMs = 3 * LEASE_MS;
  let lastMs = begun;
  const { tookMs } = await waited(() => {
    const passed = performance.now() - begun;
    if (passed < renewingMs) lastMs = performance.now();
    return [row({ renewals: Math.min(passed, renewingMs) })];
  });
  expect(tookMs).toBeGreaterThanOrEqual(lastMs - begun + LEASE_MS);
});
