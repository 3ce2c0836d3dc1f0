import { expect, test } from 'vitest';
import type { HostRecord } from '../registry/hosts.ts';
import { admitAlone, admitBeside } from './admission.ts';

const LEASE_MS = 800;
const OWN = 'did:key:own';
const STORE = { setting: 'WB_COLD_URL', url: 's3://bucket/one', fact: 'claimed' };

const row = (over: Partial<HostRecord> = {}): HostRecord => ({
  ...{ name: 'one', term: 1, sinceMs: 0, url: 'http://one:3000', capacity: null, version: null, labels: null },
  ...{
    isDraining: false,
    drain: null,
    renewals: 5,
    renewedMs: null,
    leaseMs: LEASE_MS,
    token: 'of its start',
    publicKey: OWN,
  },
  ...over,
});

/** A registry with these rows, in which these hosts have sandboxes. */
function registry(list: () => HostRecord[], owned: Record<string, number> = {}, several: unknown = null) {
  const facts = new Map<string, unknown>([['several_hosts', several]]);
  const told: string[] = [];
  const parts = {
    hosts: {
      list: async () => list(),
      owned: async () => Object.entries(owned).map(([host, sandboxes]) => ({ host, sandboxes })),
    },
    facts: {
      read: async (name: string) => facts.get(name) ?? null,
      write: async (name: string, value: unknown) => void facts.set(name, value),
    },
    ...{ name: 'one', publicKey: OWN, now: 1, tell: (line: string) => void told.push(line) },
  };
  return { parts, told, several: () => facts.get('several_hosts') };
}

test('beside others a server begins under a new name, under its own, and under one that was handed back', async () => {
  const other = row({ name: 'two', publicKey: 'did:key:other' });
  for (const rows of [[], [other], [row(), other], [row({ publicKey: 'did:key:other', token: null })]]) {
    const { parts, told, several } = registry(() => rows);
    await admitBeside(parts, [STORE]);
    expect([told, several()]).toEqual([[], true]);
  }
});

test('a name whose server lives is refused as soon as it is seen to renew', async () => {
  let renewals = 1;
  const { parts, told, several } = registry(() => [row({ publicKey: 'did:key:other', renewals: renewals++ })]);
  await expect(admitBeside(parts, [STORE])).rejects.toMatchObject({
    code: 'conflict',
    extra: { start_refused: 'host_name' },
    message: expect.stringContaining('set WB_HOST_NAME to a name that no other server has'),
  });
  expect([told.length, several()]).toEqual([1, null]);
});

test('a name whose server is dead is free one lease later, and not before', async () => {
  const { parts, told } = registry(() => [row({ publicKey: 'did:key:other' })]);
  const begun = performance.now();
  await admitBeside(parts, [STORE]);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(LEASE_MS);
  expect(told).toHaveLength(1);
});

test('a data folder keeps its name beside others', async () => {
  const { parts } = registry(() => [row({ name: 'former', token: null })]);
  await expect(admitBeside(parts, [STORE])).rejects.toMatchObject({
    extra: { start_refused: 'host_renamed' },
    message: expect.stringContaining('set WB_HOST_NAME to former'),
  });
});

test('the store is that of the servers that run', async () => {
  const others = registry(() => [row({ name: 'two', publicKey: 'did:key:other' })]);
  await others.parts.facts.write('claimed', STORE.url);
  await admitBeside(others.parts, [STORE]);
  const another = { ...STORE, url: 's3://bucket/another' };
  await expect(admitBeside(others.parts, [another])).rejects.toMatchObject({
    extra: { start_refused: 'store_of_others' },
    message: expect.stringContaining('the other servers of the registry (two) have s3://bucket/one'),
  });
  // Whoever is the first again may have moved it.
  const first = registry(() => [row({ name: 'two', publicKey: 'did:key:other', token: null })]);
  await first.parts.facts.write('claimed', STORE.url);
  await admitBeside(first.parts, [another]);
});

test('alone a server begins after several only when no other has sandboxes on its disk', async () => {
  const rows = [row({ name: 'former', token: null }), row({ name: 'two', publicKey: 'did:key:other', token: null })];
  const left = registry(() => rows, { one: 3, former: 1, two: 2 }, true);
  await expect(admitAlone(left.parts)).rejects.toMatchObject({
    extra: { start_refused: 'other_hosts' },
    message: expect.stringContaining('on the disks of others: two (2).'),
  });
  expect(left.several()).toBe(true);
  const none = registry(() => rows, { one: 3, former: 1 }, true);
  await admitAlone(none.parts);
  expect(none.several()).toBe(false);
  // A former server that had the registry for itself is followed, as ever.
  const followed = registry(() => rows, { two: 2 });
  await admitAlone(followed.parts);
  expect(followed.several()).toBeNull();
});
