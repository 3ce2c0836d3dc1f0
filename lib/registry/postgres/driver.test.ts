import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import type { RegistryDriver } from '../driver.ts';
import { registryDriver } from '../drivers.ts';
import type { ListRequest } from '../instances.ts';
import type { Registry } from '../registry.ts';
import { driverContract } from '../testing/driver-suite.ts';
import { entry, instance, makeInstance, START, THRESHOLDS } from '../testing/fixtures.ts';
import { fileDriver } from '../testing/open-test-registry.ts';
import { addressOf, administer } from '../testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { connect } from './connect.ts';

/** What lists, counts, the ledger and others say. */
async function contentOf(registry: PlainIds<Registry>) {
  const list = async (over: Partial<ListRequest> = {}) =>
    (await registry.instances.list({ sort: 'name', reverse: false, limit: 10, ...over })).rows;
  return {
    rows: await list(),
    byName: (await list({ label: { key: 'team', value: 'x' } })).map(({ id }) => id),
    found: (await list({ text: 'one' })).map(({ id }) => id),
    counts: await registry.instances.countsByState(),
    chain: await registry.ledger.chain(0, 100),
    fact: await registry.facts.read('odd'),
    session: await registry.people.find('session', []),
  };
}

/** Ends the connection that holds the lock of a registry. */
const END_LOCK = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7305813`;

let made = 0;
const databases: string[] = [];
const folders: string[] = [];

/** A new empty database. Returns how to reach it, each time by another driver, and its name. */
async function place(): Promise<{ reach: () => RegistryDriver; database: string; folder: string }> {
  made += 1;
  const database = `closed_${made}`;
  await administer(`create database ${database}`);
  const server = await addressOf(database);
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-head-'));
  databases.push(database);
  folders.push(folder);
  const reach = () => registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 4 });
  return { reach, database, folder };
}

async function discard(): Promise<void> {
  for (const database of databases.splice(0)) await administer(`drop database if exists ${database} with (force)`);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

describe.skipIf(!HAS_POSTGRES)('with a PostgreSQL server', () => {
  driverContract('the driver of a database of Postgres', { place: async () => (await place()).reach, discard });

  describe('a registry on Postgres', () => {
    let reach: () => RegistryDriver;
    let database: string;
    let folder: string;
    beforeEach(async () => {
      ({ reach, database, folder } = await place());
    });
    afterEach(discard);
    const open = async (driver = reach()) => withPlainIds(await driver.open({ thresholds: THRESHOLDS }));
    const ask = async (statement: string) => {
      const sql = await connect(await addressOf(database));
      const rows = (await sql.unsafe(statement).values()) as unknown as unknown[][];
      await sql.end();
      return rows;
    };

    test('goes into an SQLite file and back, with every row, count, number of a row and line of the ledger', async () => {
      const registry = await open();
      const odd = 'nul \u0000 one \u0001 \\u0000 ü 🐢 \ud800'.toWellFormed();
      for (const id of ['a', 'b', 'c']) await makeInstance(registry, id, id === 'b' ? 'suspended' : 'active');
      const named = instance('named', { name: odd, labels: { [odd]: odd, team: 'x' } });
      await registry.instances.create(named, START, entry({ instance: 'named', reason: odd }));
      await registry.facts.write('odd', { odd, number: 1.5 }, START);
      const person = { id: 'p', name: odd, email: 'p@example.com', emailVerified: true };
      await registry.people.create('user', person);
      const session = { id: 's', userId: 'p', token: 't', expiresAt: new Date(START * 1000) };
      await registry.people.create('session', session);
      const before = await contentOf(registry);
      await registry.close();
      const reader = await reach().readLive();
      const copy = join(folder, 'copy');
      await reader.copyTo(copy);
      await reader.close();

      const inFile = await fileDriver(copy).inspect();
      expect([await inFile.integrity(), await inFile.miscounted()]).toEqual(['ok', []]);
      await inFile.close();
      const asFile = withPlainIds(await fileDriver(copy).open({ thresholds: THRESHOLDS }));
      const draft = await reach().draft(copy, { thresholds: THRESHOLDS });
      for (const carried of [asFile, withPlainIds(draft.registry)]) {
        expect(await contentOf(carried)).toEqual(before);
        // It goes on: numbers, the chain and the rules are those of a registry that was always there.
        await makeInstance(carried, 'later');
        await expect(makeInstance(carried, 'a')).rejects.toMatchObject({ code: 'conflict' });
        expect((await carried.ledger.head()).seq).toBe((before.chain.at(-1)?.seq ?? 0) + 1);
      }
      await asFile.close();
      await draft.place();
      await draft.discard();
      const moment = await reach().inspect();
      expect([await moment.integrity(), await moment.miscounted(), await moment.hasInstance('later')]).toEqual([
        'ok',
        [],
        true,
      ]);
      await moment.close();
    });

    test('what is set aside is kept under another name, which is said', async () => {
      const registry = await open();
      await makeInstance(registry, 'a');
      await registry.close();
      const said = await reach().setAside(async () => expect.unreachable());
      const [, schema = ''] = /the schema (winterdock_replaced_\d+) of/.exec(said ?? '') ?? [];
      expect(await ask(`select id from ${schema}.instances`)).toEqual([['a']]);
      expect(await reach().setAside(async () => expect.unreachable())).toBeNull();
    });

    test('whose lock lost its connection is written to again once it is taken again, and not before', async () => {
      const driver = reach();
      const lost: Error[] = [];
      const unlock = await driver.lock(folder, (why) => lost.push(why));
      await expect(reach().requireUnlocked()).rejects.toThrow('Another Winterdock uses the registry');
      const registry = await open(driver);
      const append = () =>
        registry.ledger.append([entry()]).then(
          () => 'written',
          (error: { code: string }) => error.code,
        );
      expect(await append()).toBe('written');
      // The connections that are there stay; that of the lock cannot be made again.
      await administer(`alter database ${database} allow_connections false`);
      await administer(END_LOCK);
      await expect.poll(append).toBe('registry_unavailable');
      expect(await append()).toBe('registry_unavailable');
      await administer(`alter database ${database} allow_connections true`);
      await expect.poll(append).toBe('written');
      expect(lost).toEqual([]);
      await registry.close();
      await unlock();
    });

    test('that another server took over meanwhile gets nothing more of the first, which is told', async () => {
      const driver = reach();
      const { promise: told, resolve: onLost } = Promise.withResolvers<Error>();
      const unlock = await driver.lock(folder, onLost);
      const registry = await open(driver);
      await registry.ledger.append([entry()]);
      // As a server does that has the lock now: the first one does not know it yet.
      await ask(`update winterdock.registry_holder set token = 'of another'`);
      await expect(registry.ledger.append([entry()])).rejects.toMatchObject({ code: 'registry_unavailable' });
      expect(await registry.ledger.lastSeq()).toBe(1);
      await administer(END_LOCK);
      expect((await told).message).toContain('Another Winterdock uses the registry');
      await expect(registry.ledger.append([entry()])).rejects.toMatchObject({ code: 'registry_unavailable' });
      await registry.close();
      await unlock();
    });

    test('is used by several that share it, and alone by nobody meanwhile', async () => {
      const shared = { isShared: true };
      const both = [reach(), reach()] as const;
      const unlocks = await Promise.all(both.map((driver) => driver.lock(folder, undefined, shared)));
      const registries = await Promise.all(both.map((driver) => open(driver)));
      for (const registry of registries) await registry.ledger.append([entry()]);
      for (const registry of registries) expect(await registry.ledger.lastSeq()).toBe(2);
      await reach().requireUnlocked(shared);
      await expect(reach().requireUnlocked()).rejects.toThrow('Another Winterdock uses the registry');
      await expect(reach().lock(folder)).rejects.toThrow('Another Winterdock uses the registry');
      await unlocks[0]?.();
      await expect(reach().lock(folder)).rejects.toThrow('Another Winterdock uses the registry');
      for (const registry of registries) await registry.close();
      await unlocks[1]?.();
      const unlock = await reach().lock(folder);
      await expect(reach().requireUnlocked(shared)).rejects.toThrow('and lets no other in');
      await expect(reach().lock(folder, undefined, shared)).rejects.toThrow('and lets no other in');
      await unlock();
      await (await reach().lock(folder, undefined, shared))();
    });

    test('that is shared gets nothing more of whom was cut off while another had it alone', async () => {
      const shared = { isShared: true };
      const driver = reach();
      const { promise: told, resolve: onLost } = Promise.withResolvers<Error>();
      const unlock = await driver.lock(folder, onLost, shared);
      const registry = await open(driver);
      await registry.ledger.append([entry()]);
      const append = () =>
        registry.ledger.append([entry()]).then(
          () => 'written',
          (error: { code: string }) => error.code,
        );
      await administer(`alter database ${database} allow_connections false`);
      await administer(END_LOCK);
      await expect.poll(append).toBe('registry_unavailable');
      await administer(`alter database ${database} allow_connections true`);
      // It shares the registry again where nobody had it alone.
      await expect.poll(append).toBe('written');
      await ask(`update winterdock.registry_holder set token = 'of one that had it alone'`);
      expect(await append()).toBe('registry_unavailable');
      // Others that share it from now on have another word than the first.
      const next = reach();
      const unlockNext = await next.lock(folder, undefined, shared);
      const registryOfNext = await open(next);
      await registryOfNext.ledger.append([entry()]);
      expect(await append()).toBe('registry_unavailable');
      await administer(END_LOCK);
      expect((await told).message).toContain('Another Winterdock uses the registry');
      for (const one of [registry, registryOfNext]) await one.close();
      await unlock();
      await unlockNext();
    });

    test('a database that is away, is not there or is of something else is named without its password', async () => {
      const server = await addressOf(database);
      const of = (change: Partial<typeof server>) =>
        registryDriver({
          driver: 'postgres',
          server: { ...server, password: 'hunter2', ...change },
          headFolder: folder,
          connections: 2,
        });
      const said = async (work: Promise<unknown>) => {
        const error: { message: string; code?: string } = await work.then(
          () => expect.unreachable(),
          (refusal) => refusal,
        );
        expect(`${error.message} ${JSON.stringify(error)} ${String((error as Error).stack)}`).not.toContain('hunter2');
        return `${error.code}: ${error.message}`;
      };
      const nobody = [{ host: '127.0.0.1', port: 1 }];
      expect(await said(of({ hosts: nobody }).requireUsable())).toMatch(
        /^registry_unavailable: The registry .* cannot be reached: .*ECONNREFUSED/,
      );
      expect(await said(of({ database: 'no_such' }).presence())).toMatch(/^conflict: .*"no_such" does not exist/);
      const tls = { ...server.tls, mode: 'require' as const };
      expect(await said(of({ tls }).presence())).toMatch(/^registry_unavailable: .*sslmode=require/);
      await ask('create schema winterdock');
      await ask('create table winterdock.theirs (id int)');
      expect(await said(reach().requireUsable())).toMatch(/^conflict: .*tables of something else/);
      expect(await reach().presence()).toEqual({ kind: 'missing' });
    });
  });
});
