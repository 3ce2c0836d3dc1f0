/** The server of a registry itself fails: it is read-only, full, out of connections, restarted, slow. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresAddress, parsePostgresUrl } from '../../base/postgres-url.ts';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { registryDriver } from '../drivers.ts';
import type { Registry } from '../registry.ts';
import { expectOneChain } from '../testing/chain.ts';
import { entry, instance, intent, makeInstance, START, THRESHOLDS, transitionTo } from '../testing/fixtures.ts';
import { CAN_MOUNT_FOR_POSTGRES, newCluster, type PostgresCluster } from '../testing/postgres-cluster.ts';
import { type PostgresProxy, postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { withAnswers } from '../with-answers.ts';
import { connect } from './connect.ts';

/** Of a piece that fills a disk. */
const LINES = 100;
const UNAVAILABLE = 'registry_unavailable';

/** What a piece of work ends with: `done`, or the code of its error. */
const outcome = (work: () => Promise<unknown>): Promise<string> =>
  work().then(
    () => 'done',
    (error: { code?: string }) => String(error.code),
  );

describe.skipIf(!HAS_POSTGRES)('a registry whose server of Postgres', () => {
  let cluster: PostgresCluster;
  let made = 0;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    // A disk of 40 MB beside its own, where this machine lets us have one.
    const mounts = 'mkdir -p "$FOLDER/small"; mount -t tmpfs -o size=40m,uid=65534,gid=65534 none "$FOLDER/small"';
    // What was answered is there after a crash.
    const settings = { synchronous_commit: 'on' };
    cluster = await newCluster({ settings, ...(CAN_MOUNT_FOR_POSTGRES ? { mounts } : {}) });
    await ask(await addressOf('postgres'), `create role owner login nosuperuser`);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  afterAll(() => cluster?.remove());

  const addressOf = async (database: string, account = 'winterdock') =>
    parsePostgresUrl(cluster.url(database, account));

  async function ask(address: PostgresAddress, ...statements: string[]): Promise<unknown[][]> {
    const sql = await connect(address);
    let rows: unknown[][] = [];
    try {
      for (const statement of statements) rows = (await sql.unsafe(statement).values()) as unknown as unknown[][];
    } finally {
      await sql.end();
    }
    return rows;
  }
  const administer = async (...statements: string[]) => ask(await addressOf('postgres'), ...statements);

  /** A registry of a user who is no administrator, behind a proxy. */
  async function open({ on = '' } = {}): Promise<{
    registry: PlainIds<Registry>;
    bare: Registry;
    database: string;
    proxy: PostgresProxy;
    lost: Error[];
    reach: () => ReturnType<typeof registryDriver>;
  }> {
    made += 1;
    const database = `fault_${made}`;
    await administer(`create database ${database} owner owner ${on}`);
    ends.push(() => administer(`drop database ${database} with (force)`));
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-server-faults-'));
    ends.push(async () => rmSync(folder, { recursive: true, force: true }));
    const proxy = await postgresProxy(await addressOf(database, 'owner'));
    ends.push(() => proxy.end());
    const reach = () =>
      registryDriver({ driver: 'postgres', server: proxy.address, headFolder: folder, connections: 4 });
    const driver = reach();
    const lost: Error[] = [];
    const unlock = await driver.lock(folder, (why) => lost.push(why));
    ends.push(unlock);
    const bare = await driver.open({ thresholds: THRESHOLDS });
    ends.push(() => bare.close());
    return { registry: withPlainIds(withAnswers(bare)), bare, database, proxy, lost, reach };
  }

  const append = (registry: PlainIds<Registry>) => outcome(() => registry.ledger.append([entry()]));

  test('takes no writes is read, and says so to whoever writes', async () => {
    const { registry, database, proxy } = await open();
    const row = await makeInstance(registry, 'a', 'suspended');
    const before = (await expectOneChain(registry)).length;
    await administer(`alter database ${database} set default_transaction_read_only = on`);
    proxy.cut();
    await expect.poll(() => outcome(() => registry.instances.get('a'))).toBe('done');
    expect(await registry.instances.get('a')).toEqual(row);
    expect((await registry.instances.list({ sort: 'name', reverse: false, limit: 5 })).rows).toHaveLength(1);
    for (const write of [
      () => registry.ledger.append([entry()]),
      () => registry.instances.begin('a', intent(row)),
      () => registry.instances.create(instance('b'), START, entry()),
      () => registry.facts.write('x', 1, START),
    ]) {
      expect(await outcome(write)).toBe(UNAVAILABLE);
    }
    await administer(`alter database ${database} reset default_transaction_read_only`);
    proxy.cut();
    await expect.poll(() => append(registry)).toBe('done');
    expect(await registry.instances.get('a')).toEqual(row);
    await expectOneChain(registry, before + 1);
  });

  test.runIf(CAN_MOUNT_FOR_POSTGRES)('has no room says so, keeps what is there, and goes on with room', async () => {
    await administer(`create tablespace small location '${join(cluster.folder, 'small')}'`);
    ends.push(() => administer('drop tablespace small'));
    const { registry, database } = await open({ on: 'tablespace small' });
    await makeInstance(registry, 'a');
    const filled = await outcome(async () =>
      ask(
        await addressOf(database),
        'create table filler as select 1 as n',
        `insert into filler select n from generate_series(1, 5000000) n`,
      ),
    );
    expect(filled).toBe('53100');
    let written = 1;
    const lines = () => Array.from({ length: LINES }, () => entry({ reason: randomBytes(3000).toString('base64') }));
    const fill = () => outcome(() => registry.ledger.append(lines()));
    while ((await fill()) === 'done') written += LINES;
    expect(await fill()).toBe(UNAVAILABLE);
    expect(await registry.instances.get('a')).toMatchObject({ id: 'a' });
    await ask(await addressOf(database), 'drop table filler');
    expect(await append(registry)).toBe('done');
    await expectOneChain(registry, written + 1);
  });

  test('is out of connections is named at a start, and is waited for by one that runs', async () => {
    const { registry, proxy, database, reach, lost } = await open();
    await makeInstance(registry, 'a');
    await administer(`alter role owner connection limit 0`);
    ends.push(() => administer('alter role owner connection limit -1'));
    proxy.cut();
    expect(await outcome(() => registry.instances.get('a'))).toBe(UNAVAILABLE);
    expect(await append(registry)).toBe(UNAVAILABLE);
    await expect(reach().requireUsable()).rejects.toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringMatching(/too many connections/),
    });
    await administer('alter role owner connection limit -1');
    await expect.poll(() => append(registry)).toBe('done');
    expect(lost).toEqual([]);
    await expectOneChain(registry, 2);
    // The password was changed, or the database is closed for a while.
    await administer(`alter database ${database} allow_connections false`);
    ends.push(() => administer(`alter database ${database} allow_connections true`));
    proxy.cut();
    expect(await outcome(() => registry.instances.get('a'))).toBe(UNAVAILABLE);
    await administer(`alter database ${database} allow_connections true`);
    await expect.poll(() => append(registry)).toBe('done');
  });

  test('ends what is idle makes new connections, and a transaction that was idle is undone', async () => {
    const { registry, database } = await open();
    await makeInstance(registry, 'a');
    const kinds = ['idle_session_timeout', 'idle_in_transaction_session_timeout'];
    for (const kind of kinds) await administer(`alter database ${database} set ${kind} = 200`);
    await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
    for (let round = 0; round < 5; round += 1) {
      await expect.poll(() => append(registry)).toBe('done');
      await pause(300);
    }
    const view = await registry.ledger.view();
    expect(await view.lines(0, 1)).toHaveLength(1);
    await administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and state = 'idle in transaction'`,
    );
    await expect.poll(() => outcome(() => view.lines(0, 1))).toBe(UNAVAILABLE);
    await view.close();
    await expectOneChain(registry, 6);
  });

  test.each(['SIGINT', 'SIGQUIT'] as const)(
    'is restarted (%s) answers 503 until it is there, and has each line once',
    async (signal) => {
      const { registry, lost, proxy } = await open();
      await makeInstance(registry, 'a');
      const types = Array.from({ length: 40 }, (_, n) => `w${n}`);
      const seen = new Set<string>();
      const writing = types.map(async (type, at) => {
        await pause(at * 20);
        for (;;) {
          const is = await outcome(() => registry.ledger.append([entry({ type })]));
          seen.add(is);
          if (is === 'done') return;
          await pause(50);
        }
      });
      await pause(300);
      await cluster.stop(signal);
      expect(await outcome(() => registry.instances.get('a'))).toBe(UNAVAILABLE);
      const starting = cluster.start();
      await Promise.all([starting, ...writing]);
      expect([...seen].toSorted()).toEqual(['done', UNAVAILABLE]);
      expect(lost).toEqual([]);
      proxy.open();
      const lines = await expectOneChain(registry, 41);
      expect(
        lines
          .map(({ type }) => type)
          .filter((type) => type.startsWith('w'))
          .toSorted(),
      ).toEqual(types.toSorted());
    },
  );

  test('is slow is waited for, and a statement that takes too long is given up', async () => {
    const { registry, proxy, database } = await open();
    const row = await makeInstance(registry, 'a', 'suspended');
    proxy.delay(400);
    expect(await registry.instances.get('a')).toEqual(row);
    expect(await append(registry)).toBe('done');
    proxy.delay(0);
    await administer(`alter role owner set lock_timeout = 500`);
    ends.push(() => administer('alter role owner reset lock_timeout'));
    proxy.cut();
    // Somebody else locks the row.
    const other: Sql = await connect(await addressOf(database));
    await other.unsafe(`begin; select 1 from instances where id = 'a' for update`).simple();
    await expect.poll(() => outcome(() => registry.instances.begin('a', intent(row)))).toBe(UNAVAILABLE);
    expect(await registry.instances.get('a')).toEqual(row);
    await other.unsafe('rollback');
    await other.end();
    // What was sent behind the one that was given up is refused with it, once.
    await expect.poll(() => outcome(() => registry.instances.begin('a', intent(row)))).toBe('done');
  });

  test('loses the answer of one of two who commit the same state has it once', async () => {
    const { registry, bare, proxy } = await open();
    const row = await makeInstance(registry, 'a', 'suspended');
    await registry.instances.begin('a', intent(row));
    const before = (await expectOneChain(registry)).length;
    proxy.loseAnswerTo('commit');
    const both = await Promise.all(
      [withAnswers(bare), withAnswers(bare)].map((one) =>
        outcome(() => withPlainIds(one).instances.commit(transitionTo(row, 'active'))),
      ),
    );
    expect(both.toSorted()).toEqual(['conflict', 'done']);
    expect(await registry.instances.get('a')).toMatchObject({ state: 'active', generation: row.generation + 1 });
    await expectOneChain(registry, before + 1);
  });

  test('hangs up politely, as a balancer without servers does, is away', async () => {
    const { registry, proxy } = await open();
    await makeInstance(registry, 'a');
    proxy.close({ politely: true });
    expect(await outcome(() => registry.instances.get('a'))).toBe(UNAVAILABLE);
    expect(await append(registry)).toBe(UNAVAILABLE);
    proxy.open();
    await expect.poll(() => append(registry)).toBe('done');
  });

  test('has several hosts is found at the first that is there, and takes writes where that is asked for', async () => {
    const { registry, database } = await open();
    await makeInstance(registry, 'a');
    const of = (hosts: string, query: string) =>
      registryDriver({
        driver: 'postgres',
        server: parsePostgresUrl(`postgres://winterdock@${hosts}/${database}${query}`),
        headFolder: tmpdir(),
        connections: 1,
      });
    const here = `127.0.0.1:${cluster.port}`;
    for (const query of ['', '?target_session_attrs=read-write']) {
      expect(await of(`127.0.0.1:1,${here}`, query).presence()).toMatchObject({ kind: 'there' });
      await expect(of('127.0.0.1:1,127.0.0.1:2', query).presence()).rejects.toMatchObject({
        code: UNAVAILABLE,
        message: expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/),
      });
    }
    await administer(`alter database ${database} set default_transaction_read_only = on`);
    expect(await of(here, '').presence()).toMatchObject({ kind: 'there' });
    await expect(of(here, '?target_session_attrs=primary').presence()).rejects.toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringMatching(/takes no writes/),
    });
  });
});
