import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { WinterdockError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import type { HostRecord } from '../registry/hosts.ts';
import type { InstanceRow } from '../registry/types.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { HostWatch } from './host-watch.ts';
import { KnownPlaces, refusedElsewhere } from './sandbox-places.ts';

const LEASE_MS = 900;
const WAIT = { timeout: 60_000, interval: 10 };
const ID = instanceId('a');

const host = (name: string, over: Partial<HostRecord> = {}): HostRecord => ({
  ...{ name, term: 1, sinceMs: 0, url: `http://${name}:3000`, capacity: null, version: null, labels: null },
  ...{
    isDraining: false,
    drain: null,
    renewals: 0,
    renewedMs: 5000,
    leaseMs: LEASE_MS,
    token: name,
    publicKey: `did:key:${name}`,
  },
  ...over,
});

type Row = Pick<InstanceRow, 'id' | 'tenant' | 'state' | 'ownerHost' | 'stored' | 'vfsPath'>;
const row = (over: Partial<Row> = {}): Row => ({
  id: ID,
  tenant: 'acme',
  state: 'suspended',
  ownerHost: null,
  vfsPath: 'live/a/vfs.sqlite',
  stored: null,
  ...over,
});

const watches: HostWatch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) await watch.stop();
});

/** Places of the host `one` in a registry whose hosts are `rows`, of which those in `living` renew at each look. */
async function placesOn({
  rows,
  living,
  is = row(),
  isAwakeHere = false,
}: {
  rows: HostRecord[];
  living: Set<string>;
  is?: Row | null;
  isAwakeHere?: boolean;
}) {
  const asked = { hosts: 0, rows: 0, isAway: false };
  const watch = new HostWatch({
    hosts: {
      async list() {
        asked.hosts += 1;
        if (asked.isAway) throw new WinterdockError('registry_unavailable', 'The database is away.');
        for (const one of rows) if (living.has(one.name)) one.renewals += 1;
        return rows.map((one) => ({ ...one }));
      },
    },
    leaseMs: LEASE_MS,
    log: createLogger('silent'),
  });
  watches.push(watch);
  await watch.start();
  const places = new KnownPlaces({
    self: { name: 'one', term: 1 },
    watch,
    isAwakeHere: () => isAwakeHere,
    async row() {
      asked.rows += 1;
      return is;
    },
  });
  return { places, asked };
}

test('what is nobody’s, its own, deleted or unknown is here', async () => {
  const rows = [host('one'), host('two')];
  for (const is of [row(), row({ ownerHost: 'one' }), row({ ownerHost: 'two', state: 'deleted' }), null]) {
    const { places } = await placesOn({ rows, living: new Set(['one', 'two']), is });
    expect(await places.whereIs(ID)).toEqual({ here: true });
  }
});

test('of what is awake here no row is asked, nor where nobody else uses the registry', async () => {
  const { places, asked } = await placesOn({ rows: [host('one')], living: new Set(['one']), isAwakeHere: true });
  expect(await places.whereIs(ID)).toEqual({ here: true });
  expect(asked.rows).toBe(0);
  const alone = new KnownPlaces({
    self: { name: 'one', term: 1 },
    watch: null,
    isAwakeHere: () => false,
    row: () => expect.unreachable(),
  });
  expect(await alone.whereIs(ID)).toEqual({ here: true });
  expect([alone.host('two'), alone.others()]).toEqual([null, []]);
});

test('a host that lives is named with its address, its term and its key', async () => {
  const rows = [host('one'), host('two', { term: 7 })];
  const { places } = await placesOn({ rows, living: new Set(['one', 'two']), is: row({ ownerHost: 'two' }) });
  const two = { host: 'two', url: 'http://two:3000', term: 7, publicKey: 'did:key:two' };
  expect(await places.whereIs(ID)).toEqual({ here: false, tenant: 'acme', ...two });
  expect([places.host('two'), places.host('one'), places.others()]).toEqual([two, null, [two]]);
  const is = row({ ownerHost: 'two' });
  expect(await refusedElsewhere(places, is)).toMatchObject({ code: 'conflict', extra: { host: 'two' } });
});

test('a host that does not renew is dead one lease later, and what it has cannot be reached until it renews', async () => {
  const rows = [host('one'), host('two')];
  const living = new Set(['one', 'two']);
  const stored = { address: 'cloud:cold/a/1-x', generation: 1, sha256: 'x', bytes: 1, at: 77 };
  const is = row({ ownerHost: 'two', stored });
  const { places } = await placesOn({ rows, living, is });
  living.delete('two');
  const silent = performance.now();
  expect(await places.whereIs(ID)).toMatchObject({ here: false, host: 'two' });
  await expect
    .poll(() => places.whereIs(ID), WAIT)
    .toEqual({ here: false, unreachable: { host: 'two', lastSeenMs: 5000, recoveryPointMs: 77_000 } });
  expect(performance.now() - silent).toBeGreaterThan(LEASE_MS * 0.9);
  expect([places.host('two'), places.others()]).toEqual([null, []]);
  const refused = await refusedElsewhere(places, is);
  expect(refused).toMatchObject({ code: 'unreachable', extra: { host: 'two', last_seen: 5, recovery_point: 77 } });
  expect(refused.message).toContain('the object store has it as it was at 1970-01-01T00:01:17.000Z');
  living.add('two');
  await expect.poll(() => places.whereIs(ID), WAIT).toMatchObject({ here: false, host: 'two' });
});

test('a host that handed its name back, or that nobody knows, cannot be reached at once', async () => {
  const { places } = await placesOn({ rows: [host('one'), host('two', { token: null })], living: new Set(['one']) });
  expect(places.whereIsRow(row({ ownerHost: 'two' }))).toMatchObject({
    unreachable: { host: 'two', lastSeenMs: 5000 },
  });
  expect(places.whereIsRow(row({ ownerHost: 'gone' }))).toMatchObject({
    unreachable: { host: 'gone', lastSeenMs: null },
  });
  expect(await refusedElsewhere(places, row({ ownerHost: 'gone' }))).toMatchObject({ extra: { recovery_point: null } });
});

test('a host that has begun since the last look is looked for, once for all that ask, before anything is said of it', async () => {
  const rows = [host('one')];
  const is = row({ ownerHost: 'two', state: 'active' });
  const { places, asked } = await placesOn({ rows, living: new Set(['one', 'two']), is });
  rows.push(host('two'));
  const looks = asked.hosts;
  const refused = refusedElsewhere(places, is);
  expect(await Promise.all([places.whereIs(ID), places.whereIs(ID)])).toMatchObject([{ host: 'two' }, { host: 'two' }]);
  expect(await refused).toMatchObject({ code: 'conflict', extra: { host: 'two' } });
  expect(asked.hosts).toBe(looks + 1);
});

test('nobody is taken for dead because the database was away', async () => {
  const rows = [host('one'), host('two')];
  const living = new Set(['one', 'two']);
  const { places, asked } = await placesOn({ rows, living, is: row({ ownerHost: 'two' }) });
  asked.isAway = true;
  const { hosts } = asked;
  await pause(3 * LEASE_MS);
  expect(asked.hosts).toBeGreaterThan(hosts);
  expect(await places.whereIs(ID)).toMatchObject({ here: false, host: 'two' });
  asked.isAway = false;
  const back = asked.hosts;
  await expect.poll(() => asked.hosts, WAIT).toBeGreaterThan(back + 2);
  expect(await places.whereIs(ID)).toMatchObject({ here: false, host: 'two' });
});

test('while this host is emptied another one takes what is nobody’s and what is new, and its own stays here', async () => {
  const living = new Set(['one', 'two', 'three', 'four']);
  const emptied = { isDraining: true };
  const rows = [host('one', emptied), host('two'), host('three', emptied), host('four', { token: null })];
  const { places } = await placesOn({ rows, living });
  const two = { host: 'two', url: 'http://two:3000', term: 1, publicKey: 'did:key:two' };
  expect(await places.whereIs(ID)).toEqual({ here: false, tenant: 'acme', ...two });
  expect(places.forNew()).toEqual(two);
  for (const is of [row({ ownerHost: 'one' }), row({ state: 'deleted' }), null]) {
    const own = await placesOn({ rows, living, is });
    expect(await own.places.whereIs(ID)).toEqual({ here: true });
  }
  // The same one for the same sandbox.
  const more = await placesOn({ rows: [host('one', emptied), host('two'), host('five')], living: new Set(['two']) });
  const takers = await Promise.all([1, 2, 3].map(() => more.places.whereIs(ID)));
  expect(new Set(takers.map((place) => ('host' in place ? place.host : null))).size).toBe(1);
  const alone = await placesOn({ rows: [host('one', emptied), host('three', emptied)], living });
  expect([await alone.places.whereIs(ID), alone.places.forNew()]).toEqual([{ here: true }, null]);
  const kept = await placesOn({ rows: [host('one'), host('two')], living });
  expect([await kept.places.whereIs(ID), kept.places.forNew()]).toEqual([{ here: true }, null]);
});
