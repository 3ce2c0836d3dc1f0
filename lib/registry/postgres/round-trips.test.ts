/** How often a registry on Postgres waits for its server, and what is sent together. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../chain.ts';
import type { Registry } from '../registry.ts';
import { entry, instance, intent, makeInstance, START, THRESHOLDS, transitionTo } from '../testing/fixtures.ts';
import { administer, newDatabase } from '../testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import type { InstanceRow, RowOwner } from '../types.ts';
import { connect } from './connect.ts';
import { PostgresDatabase } from './database.ts';
import { openPostgresRegistry } from './open.ts';
import { ConnectionPool } from './pool.ts';
import { RegistryLock } from './registry-lock.ts';

let made = 0;

describe.skipIf(!HAS_POSTGRES)('a registry whose server of Postgres is far away', () => {
  let name: string;
  let proxy: PostgresProxy;
  let lock: RegistryLock;
  let database: PostgresDatabase;
  let registry: PlainIds<Registry>;

  beforeEach(async () => {
    made += 1;
    name = `trips_${made}`;
    const address = await newDatabase(name);
    proxy = await postgresProxy(address);
    // It asks whether its connection is there, which is not to be counted.
    lock = await RegistryLock.take({ address, name, onLost: () => undefined });
    const sql = await connect(address);
    await lock.note(sql);
    await sql.end();
    database = new PostgresDatabase(await ConnectionPool.open(proxy.address, { most: 4 }), lock);
    registry = withPlainIds(await openPostgresRegistry(database, { thresholds: THRESHOLDS, name }));
  });
  afterEach(async () => {
    await registry.close();
    await lock.release();
    await proxy.end();
    await administer(`drop database if exists ${name} with (force)`);
  });

  const ledger = async () => {
    const lines = await registry.ledger.chain(0, 1000);
    let { hash } = CHAIN_START;
    for (const [at, line] of lines.entries()) {
      hash = chainHash(hash, canonicalLine(line));
      expect([line.seq, line.hash]).toEqual([at + 1, hash]);
    }
    return lines.map(({ type }) => type);
  };
  /** Takes the registry over, as another server does. */
  const takeOver = () => administerIn(`update registry_holder set token = 'another'`);
  const administerIn = async (statement: string) => {
    const sql = await connect({ ...proxy.address });
    await sql.unsafe(statement);
    await sql.end();
  };

  test('get, begin, commit, abandon, touch and append are one round trip each, and what was written is there', async () => {
    const owner: RowOwner = { host: 'one', term: 1, token: 'mine' };
    await registry.quotas.set('acme', { maxActive: 2 }, entry());
    await makeInstance(registry, 'a', 'suspended');
    const other = await makeInstance(registry, 'b', 'active');
    const { instances } = registry;
    const row = async () => (await instances.get('a')) ?? other;
    /** The life of a sandbox that wakes, is used and sleeps again, each of its writes by itself. */
    const life = async (trips: (work: () => Promise<unknown>) => Promise<number>): Promise<Record<string, number>> => {
      const asleep = await row();
      const counts: Record<string, number> = {};
      const step = async (what: string, work: () => Promise<unknown>) => {
        counts[what] = await trips(work);
      };
      await step('get', () => instances.get('a'));
      await step('begin', () => instances.begin('a', intent(asleep, { to: 'active' }), { owner }));
      await step('abandon', () => instances.abandon('a', { failures: 1 }, [entry({ type: 'wake.none' })], owner));
      await instances.begin('a', intent(asleep, { to: 'active' }), { owner });
      await step('commit', () =>
        instances.commit({ ...transitionTo(asleep, 'active'), owner, ledger: [entry({ type: 'woke' })] }),
      );
      const awake = await row();
      await step('touch', () =>
        instances.touch([
          { id: 'a', updated: awake.updated + 60, bytes: 7, owner },
          { id: 'b', updated: awake.updated + 60 },
        ]),
      );
      await step('append', () => registry.ledger.append([entry({ type: 'said' })]));
      await instances.commit({ ...transitionTo(awake, 'suspended'), owner });
      return counts;
    };
    // Statements are prepared when they are sent first.
    await life(async (work) => {
      await work();
      return 0;
    });
    expect(await life((work) => proxy.roundTrips(work))).toEqual({
      get: 1,
      begin: 1,
      abandon: 1,
      commit: 1,
      touch: 1,
      append: 1,
    });
    expect(await row()).toMatchObject({ state: 'suspended', bytes: 7, failures: 0, ownerToken: null });
    expect((await ledger()).filter((type) => ['wake.none', 'woke', 'said'].includes(type))).toEqual([
      'wake.none',
      'woke',
      'said',
      'wake.none',
      'woke',
      'said',
    ]);
  });

  test('a write of one statement is one round trip too, and none that comes after a take-over is made', async () => {
    const ticket = { kind: 'job', work: 'w', host: 'one', term: 1, token: 'mine', lastsMs: 60_000 } as const;
    await registry.claims.acquire({ ...ticket, work: 'before' });
    expect(await proxy.roundTrips(() => registry.claims.acquire(ticket))).toBe(1);
    await makeInstance(registry, 'a', 'suspended');
    const row = await registry.instances.get('a');
    if (row === null) throw new Error('It is gone.');
    await takeOver();
    for (const work of [
      () => registry.claims.acquire({ ...ticket, work: 'after' }),
      () => registry.instances.begin('a', intent(row)),
      () => registry.instances.create(instance('b'), START, entry()),
      () => registry.ledger.append([entry()]),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'registry_unavailable' });
    expect((await registry.claims.list()).map(({ work }) => work).toSorted()).toEqual(['before', 'w']);
    expect([await registry.instances.get('a'), await registry.instances.get('b')]).toEqual([row, null]);
  });

  test('a take-over waits for what has found the registry to be its own', async () => {
    const done: string[] = [];
    let taking: Promise<void> | null = null;
    await database.write(async () => {
      await database.ask('select 1');
      const sql = await connect({ ...proxy.address });
      taking = lock.note(sql).then(async () => {
        done.push('taken over');
        await sql.end();
      });
      const waits = `select count(*) from pg_locks where locktype = 'advisory' and not granted`;
      await expect.poll(() => database.ask(waits)).toEqual([[1]]);
      done.push('written');
    });
    await taking;
    expect(done).toEqual(['written', 'taken over']);
  });

  test('of writes that are sent together one that is refused undoes none of the others', async () => {
    await makeInstance(registry, 'a', 'suspended');
    const row = await registry.instances.get('a');
    if (row === null) throw new Error('It is gone.');
    const outcomes = await Promise.allSettled([
      registry.ledger.append([entry({ type: 'one' })]),
      // No whole millisecond.
      registry.ledger.append([entry({ type: 'none', timeMs: 0.5 })]),
      registry.instances.begin('a', intent(row)),
      registry.ledger.append([entry({ type: 'two' }), entry({ type: 'three' })]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect((await registry.instances.get('a'))?.pending).not.toBeNull();
    expect((await ledger()).slice(-3).toSorted()).toEqual(['one', 'three', 'two']);
  });

  test('many writers at once wait for few commits, and each has its own answer', async () => {
    const rows: InstanceRow[] = [];
    for (let n = 0; n < 20; n += 1) rows.push(await makeInstance(registry, `s-${n}`, 'suspended'));
    const commit = (row: InstanceRow, to: 'active' | 'suspended') =>
      registry.instances.commit({ ...transitionTo(row, to), ledger: [entry({ type: to, instance: row.id })] });
    await Promise.all(rows.map((row) => commit(row, 'active')));
    let after: InstanceRow[] = [];
    const trips = await proxy.roundTrips(async () => {
      const now = await Promise.all(rows.map((row) => registry.instances.get(row.id)));
      after = await Promise.all(now.map((row) => commit(row as InstanceRow, 'suspended')));
    });
    expect(after.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(trips).toBeLessThan(20);
    await ledger();
    expect(await registry.maintenance.recount(entry())).toEqual([]);
  });
});
