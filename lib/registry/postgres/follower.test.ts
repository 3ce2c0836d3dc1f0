/** What a process hears of another one that writes to its registry on Postgres: with its listener, and without. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PostgresAddress } from '../../base/postgres-url.ts';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { registryDriver } from '../drivers.ts';
import type { Registry } from '../registry.ts';
import { GLOBAL_THRESHOLDS } from '../statements/thresholds.ts';
import { entry, START, THRESHOLDS } from '../testing/fixtures.ts';
import { addressOf, administer, newDatabase } from '../testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { connect } from './connect.ts';

/** What the session of a listener is called, and the channel that it listens to. */
const LISTENER = 'winterdock listener';
const CHANNEL = 'winterdock_lines';

let made = 0;

describe.skipIf(!HAS_POSTGRES)('a registry on Postgres that several processes write to', () => {
  let name: string;
  let folder: string;
  let proxy: PostgresProxy;
  let opened: PlainIds<Registry>[];
  /** Follows the others, through a line that can be cut. */
  let first: PlainIds<Registry>;
  /** Another process that follows too, and one that tells nobody of what it commits. */
  let second: PlainIds<Registry>;
  let silent: PlainIds<Registry>;

  beforeEach(async () => {
    made += 1;
    name = `followed_${made}`;
    folder = mkdtempSync(join(tmpdir(), 'winterdock-followed-'));
    const address = await newDatabase(name);
    proxy = await postgresProxy(address);
    opened = [];
    first = await open(proxy.address, true);
    second = await open(address, true);
    silent = await open(address, false);
  });
  afterEach(async () => {
    vi.useRealTimers();
    proxy.open();
    for (const registry of opened) await registry.close();
    await proxy.end();
    await administer(`drop database if exists ${name} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (server: PostgresAddress, follow: boolean) => {
    const driver = registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 4 });
    const registry = withPlainIds(await driver.open({ thresholds: THRESHOLDS, follow }));
    opened.push(registry);
    return registry;
  };
  /** The numbers of the lines that a registry announces, and how many of them it takes for its own. */
  const heardBy = (registry: PlainIds<Registry>) => {
    const heard = { numbers: [] as number[], own: [] as string[] };
    registry.commitEvents.onLedgerAppend(({ lines }) => heard.numbers.push(...lines.map(({ seq }) => seq)));
    registry.commitEvents.onOwnAppend((lines) => heard.own.push(...lines.map(({ type }) => type)));
    return heard;
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
  const by = async (statement: string) => {
    const sql = await connect(await addressOf(name), { schema: 'public' });
    await sql.unsafe(statement);
    await sql.end();
  };
  const key = (id: string) => ({
    ...{ id, name: id, role: 'viewer', tenant: null, hash: '00', created: START, createdBy: 'key:admin' },
    ...{ expires: null, maxCallSeconds: null },
  });

  test('all hear the lines of all, once and in order, and each knows its own', async () => {
    const heard = [first, second].map(heardBy);
    await Promise.all(
      [first, second, silent].flatMap((registry, at) =>
        Array.from({ length: 20 }, () =>
          registry.ledger.append([entry({ type: `of.${at}` }), entry({ type: `of.${at}` })]),
        ),
      ),
    );
    for (const [at, each] of heard.entries()) {
      await expect.poll(() => each.numbers.length).toBe(120);
      expect(each.numbers).toEqual(upTo(120));
      expect(each.own).toEqual(Array.from({ length: 40 }, () => `of.${at}`));
    }
  });

  test('a line wakes the others: one that never looks by itself hears it, with those before it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const idle = await open(await addressOf(name), true);
    vi.useRealTimers();
    const heard = heardBy(idle);
    for (let n = 1; n <= 3; n += 1) {
      await silent.ledger.append([entry()]);
      await second.ledger.append([entry()]);
      await expect.poll(() => heard.numbers).toEqual(upTo(2 * n));
    }
  });

  test('each change of access and settings is told, of whoever makes it, and nothing else is', async () => {
    let told = 0;
    first.commitEvents.onStale(() => {
      told += 1;
    });
    const person = { id: 'p', name: 'Ada', email: 'ada@example.com', emailVerified: true };
    const session = { id: 's', userId: 'p', token: 't', expiresAt: new Date(START * 1000) };
    const isIt = (value: string) => [{ field: 'id', operator: 'eq', value, connector: 'and' }] as const;
    const changes: [string, () => Promise<unknown>][] = [
      ['a key is made', () => silent.keys.add(key('a'), entry())],
      ['a key is revoked', () => silent.keys.revoke('a', START, entry())],
      ['a person is made', () => silent.people.create('user', person)],
      ['a person is changed', () => silent.people.change('user', isIt('p'), { role: 'viewer' })],
      ['a quota is set', () => silent.quotas.set('acme', { maxDailyCpuSeconds: 5 }, entry())],
      ['thresholds are set', () => silent.thresholds.setGlobal({ hotToWarmSeconds: 7 }, entry())],
      ['those of a tenant are set', () => silent.thresholds.setOfTenant('acme', { hotToWarmSeconds: 7 }, entry())],
      [
        'a session is opened and removed',
        async () => {
          await silent.people.create('session', session);
          await silent.people.removeAll('session', isIt('s'));
        },
      ],
      ['a key is changed by hand', () => by(`update winterdock.keys set role = 'admin' where id = 'a'`)],
      [
        'thresholds are changed by hand',
        () => by(`update winterdock.settings set updated = 0 where key = '${GLOBAL_THRESHOLDS}'`),
      ],
      ['everybody is removed by hand', () => by('truncate winterdock.session')],
    ];
    for (const [what, change] of changes) {
      const before = told;
      await change();
      await expect.poll(() => told, { message: what }).toBeGreaterThan(before);
    }
    await expect.poll(() => first.commitEvents.position).toBe(await silent.ledger.lastSeq());
    const before = told;
    await silent.keys.recordUse([{ id: 'a', at: START }]);
    await silent.facts.write('any', 1, START);
    await silent.ledger.append([entry()]);
    await silent.people.create('session', session);
    // That comes after all of these, and is told.
    await silent.keys.add(key('b'), entry());
    await expect.poll(() => told).toBe(before + 1);
  });

  test('without its listener nothing may be kept, and lines come all the same; with it again all is as before', async () => {
    const heard = heardBy(first);
    let told = 0;
    first.commitEvents.onStale(() => {
      told += 1;
    });
    expect([first.commitEvents.mayCache, second.commitEvents.mayCache, silent.commitEvents.mayCache]).toEqual([
      true,
      true,
      false,
    ]);
    await second.ledger.append([entry(), entry()]);
    proxy.refuse(LISTENER);
    await expect.poll(() => first.commitEvents.mayCache).toBe(false);
    const before = told;
    await second.ledger.append([entry(), entry()]);
    await first.ledger.append([entry()]);
    await silent.keys.add(key('a'), entry());
    await expect.poll(() => heard.numbers).toEqual(upTo(6));
    await expect.poll(() => told).toBeGreaterThan(before);
    expect(first.commitEvents.mayCache).toBe(false);
    const away = told;
    proxy.open();
    await expect.poll(() => first.commitEvents.mayCache).toBe(true);
    expect(told).toBeGreaterThan(away);
    await second.ledger.append([entry()]);
    await expect.poll(() => heard.numbers).toEqual(upTo(7));
  });

  test('a listener that Postgres ends is there again, with what was committed meanwhile', async () => {
    const heard = heardBy(first);
    const listeners = `select pid from pg_stat_activity where application_name = '${LISTENER}' and datname = '${name}'`;
    for (let n = 0; n < 3; n += 1) {
      await administer(`select pg_terminate_backend(pid) from (${listeners}) as those`);
      await second.ledger.append([entry()]);
      await expect.poll(() => first.commitEvents.mayCache && second.commitEvents.mayCache).toBe(true);
    }
    await expect.poll(() => heard.numbers).toEqual(upTo(3));
  });

  test('when the database says nothing, nothing may be kept within a second, although no connection ends', async () => {
    expect(first.commitEvents.mayCache).toBe(true);
    proxy.hold();
    const began = performance.now();
    let lastKept = began;
    await expect
      .poll(
        () => {
          const now = performance.now();
          if (first.commitEvents.mayCache) lastKept = now;
          return now > lastKept;
        },
        { interval: 10 },
      )
      .toBe(true);
    expect(lastKept - began).toBeLessThan(1000);
    proxy.open();
    await expect.poll(() => first.commitEvents.mayCache).toBe(true);
  });

  test('a storm of notifications, of any text, costs no line and no order', async () => {
    const heard = heardBy(first);
    const storm = [`'999999999'`, `'-1'`, `'not a number'`, `''`].map((text) =>
      by(
        `do $$ begin for n in 1..5000 loop perform pg_notify('${CHANNEL}', ${text} || case when n % 2 = 0 then n::text else '' end); end loop; end $$`,
      ),
    );
    for (let n = 0; n < 50; n += 1) await second.ledger.append([entry()]);
    await Promise.all(storm);
    await second.ledger.append([entry()]);
    await expect.poll(() => heard.numbers.length).toBe(51);
    expect(heard.numbers).toEqual(upTo(51));
    await expect.poll(() => first.commitEvents.mayCache).toBe(true);
  });

  test('many lines are told of by few notifications, and the last one has the last number', async () => {
    const told: number[] = [];
    const sql = await connect(await addressOf(name), { onNotify: (text) => told.push(Number(text)) });
    await sql.unsafe(`listen ${CHANNEL}`);
    await Promise.all(Array.from({ length: 300 }, () => second.ledger.append([entry()])));
    await expect.poll(() => told.at(-1)).toBe(300);
    expect(told.length).toBeLessThan(150);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    await sql.end();
  });

  test('a registry of the first step is brought forward, and followed', async () => {
    for (const registry of opened.splice(0)) await registry.close();
    for (const table of ['keys', '"user"', 'session', 'tenants', 'settings'])
      await by(`drop trigger access_changed on winterdock.${table}`);
    await by('drop function winterdock.access_changed');
    await by('drop table winterdock.access_changes, winterdock.instance_texts');
    await by('drop function winterdock.texts_changed, winterdock.text_grams cascade');
    await by('delete from winterdock.registry_steps where step > 1');
    const server = await addressOf(name);
    const driver = registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 2 });
    const again = await driver.open({ thresholds: THRESHOLDS, follow: true });
    opened.push(withPlainIds(again));
    let told = 0;
    again.commitEvents.onStale(() => {
      told += 1;
    });
    await by(`set search_path = winterdock; insert into tenants (tenant) values ('acme')`);
    await expect.poll(() => told).toBe(1);
  });
});
