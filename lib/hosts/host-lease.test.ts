import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import type { HostDetails } from '../registry/hosts.ts';
import { HostLease } from './host-lease.ts';

const LEASE_MS = 900;
const WAIT = { timeout: 60_000, interval: 10 };
const AWAY = new WinterdockError('registry_unavailable', 'The database is away.');

/** A table of one row, whose database can be away, or silent. */
function table() {
  const row: { token: string | null; renewals: number } = { token: null, renewals: 0 };
  const state = { isAway: false, silent: null as Promise<void> | null, asked: 0 };
  const hosts = {
    async describe(_name: string, { token }: HostDetails) {
      row.token = token;
    },
    async renew(_name: string, token: string) {
      state.asked += 1;
      await state.silent;
      if (state.isAway) throw AWAY;
      if (row.token !== token) return false;
      row.renewals += 1;
      return true;
    },
    async giveBack(_name: string, token: string) {
      if (row.token === token) row.token = null;
    },
  };
  return { row, state, hosts };
}

const open: HostLease[] = [];
function leaseOn({ hosts }: Pick<ReturnType<typeof table>, 'hosts'>): HostLease {
  const details = {
    url: null,
    capacity: { active: 1, memoryBytes: null },
    version: '1',
    labels: {},
    publicKey: 'did:key:z',
    leaseMs: LEASE_MS,
  };
  const lease = new HostLease({ hosts, name: 'one', details, clock: new FakeClock(), log: createLogger('silent') });
  open.push(lease);
  return lease;
}
afterEach(async () => {
  for (const lease of open.splice(0)) await lease.stop();
});

test('a lease is renewed again and again, and its name is handed back at the end', async () => {
  const at = table();
  const lease = leaseOn(at);
  expect(lease.leftMs).toBe(0);
  await lease.start();
  expect(lease.leftMs).toBeGreaterThan(0);
  await expect.poll(() => at.row.renewals, WAIT).toBeGreaterThan(4);
  expect(at.row.token).not.toBeNull();
  await lease.stop();
  expect(at.row.token).toBeNull();
  const { asked } = at.state;
  await pause(LEASE_MS);
  expect(at.state.asked).toBe(asked);
});

test('while the database is away the lease lapses, and is there again with the first renewal', async () => {
  const at = table();
  const lease = leaseOn(at);
  await lease.start();
  at.state.isAway = true;
  await expect.poll(() => lease.leftMs, WAIT).toBe(0);
  at.state.isAway = false;
  await expect.poll(() => lease.leftMs, WAIT).toBeGreaterThan(0);
});

test('a database that says nothing is asked again, and an answer that comes late counts from when it was asked', async () => {
  const at = table();
  const lease = leaseOn(at);
  await lease.start();
  const { promise, resolve } = Promise.withResolvers<void>();
  at.state.silent = promise;
  await expect.poll(() => lease.leftMs, WAIT).toBe(0);
  const { asked } = at.state;
  await expect.poll(() => at.state.asked, WAIT).toBeGreaterThan(asked + 1);
  at.state.silent = null;
  resolve();
  await expect.poll(() => lease.leftMs, WAIT).toBeGreaterThan(0);
});

test('a name that another start has taken is renewed and handed back by nobody else', async () => {
  const at = table();
  const former = leaseOn(at);
  await former.start();
  const next = leaseOn(at);
  await next.start();
  const { token } = at.row;
  await expect.poll(() => former.leftMs, WAIT).toBe(0);
  expect(next.leftMs).toBeGreaterThan(0);
  await former.stop();
  expect(at.row.token).toBe(token);
});
