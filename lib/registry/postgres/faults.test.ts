/** The connection to the server of a registry is cut, closed and held, and its answers are lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../chain.ts';
import { registryDriver } from '../drivers.ts';
import type { Registry } from '../registry.ts';
import { entry, instance, intent, makeInstance, START, THRESHOLDS } from '../testing/fixtures.ts';
import { administer, newDatabase } from '../testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { withAnswers } from '../with-answers.ts';
import { PostgresDatabase } from './database.ts';
import { ConnectionPool } from './pool.ts';

let made = 0;

describe.skipIf(!HAS_POSTGRES)('a registry whose server of Postgres is behind a line that fails', () => {
  let name: string;
  let folder: string;
  let proxy: PostgresProxy;
  let bare: Registry;
  /** As the server has it: writes whose answers are lost are looked up. */
  let registry: PlainIds<Registry>;
  let unlock: () => Promise<void>;
  const lost: Error[] = [];

  beforeEach(async () => {
    made += 1;
    name = `faults_${made}`;
    folder = mkdtempSync(join(tmpdir(), 'winterdock-faults-'));
    proxy = await postgresProxy(await newDatabase(name));
    const driver = registryDriver({ driver: 'postgres', server: proxy.address, headFolder: folder, connections: 4 });
    lost.length = 0;
    unlock = await driver.lock(folder, (why) => lost.push(why));
    bare = await driver.open({ thresholds: THRESHOLDS });
    registry = withPlainIds(withAnswers(bare));
  });
  afterEach(async () => {
    proxy.open();
    await registry.close();
    await unlock();
    await proxy.end();
    await administer(`drop database if exists ${name} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });

  const outcome = (work: () => Promise<unknown>) =>
    work().then(
      () => 'done',
      (error: { code?: string }) => String(error.code),
    );
  /** The lines of the ledger, which have no gaps and one chain. */
  const lines = async () => {
    const all = await registry.ledger.chain(0, 1000);
    let { hash } = CHAIN_START;
    for (const [at, line] of all.entries()) {
      hash = chainHash(hash, canonicalLine(line));
      expect([line.seq, line.hash]).toEqual([at + 1, hash]);
    }
    return all;
  };

  test('goes on by itself once the line is there again; until then all is 503, and what was acknowledged is there', async () => {
    await makeInstance(registry, 'a');
    proxy.close();
    for (const work of [
      () => registry.instances.get('a'),
      () => registry.instances.create(instance('b'), START, entry()),
      () => registry.ledger.append([entry()]),
      () => registry.instances.list({ sort: 'name', reverse: false, limit: 5 }),
      () => registry.maintenance.ping(),
    ]) {
      expect(await outcome(work)).toBe('registry_unavailable');
    }
    proxy.open();
    await expect.poll(() => outcome(() => registry.ledger.append([entry()]))).toBe('done');
    expect(await registry.instances.get('a')).toMatchObject({ id: 'a' });
    expect(await registry.instances.get('b')).toBeNull();
    expect(await lines()).toHaveLength(2);
    expect(lost).toEqual([]);
  });

  test('makes a write once whose commit got no answer', async () => {
    proxy.loseAnswerTo('commit');
    const row = await makeInstance(registry, 'a');
    expect(proxy.hasLost).toBe(true);
    expect(await registry.instances.get('a')).toEqual(row);
    expect((await lines()).map(({ instance: of }) => of)).toEqual(['a']);
  });

  test.each(['insert into "instances"', 'ledger_append'])(
    'undoes a write that is cut at %j, before its commit, and says so',
    async (word) => {
      proxy.loseAnswerTo(word);
      expect(await outcome(() => makeInstance(registry, 'a'))).toBe('registry_unavailable');
      expect(proxy.hasLost).toBe(true);
      expect([await registry.instances.get('a'), await lines()]).toEqual([null, []]);
      await makeInstance(registry, 'a');
      expect(await lines()).toHaveLength(1);
    },
  );

  test('makes a statement alone once whose answer is lost', async () => {
    const row = await makeInstance(registry, 'a', 'suspended');
    proxy.loseAnswerTo('update "instances"');
    expect(await outcome(() => registry.instances.begin('a', intent(row)))).toBe('done');
    expect(proxy.hasLost).toBe(true);
    expect((await registry.instances.get('a'))?.pending).not.toBeNull();
  });

  test('has the lines of many writers once each, without a gap, however often the line is cut', async () => {
    let cuts = 0;
    const cutting = setInterval(() => {
      cuts += 1;
      proxy.cut();
      if (cuts === 5) clearInterval(cutting);
    }, 300);
    const types = Array.from({ length: 60 }, (_, n) => `w${n}`);
    const outcomes = await Promise.all(
      types.map(async (type) => {
        // As whoever gets a 503 does.
        for (;;) {
          const is = await outcome(() => bare.ledger.append([entry({ type })], `write-${type}`));
          if (is === 'done') return is;
          expect(is).toBe('registry_unavailable');
          await pause(50);
        }
      }),
    );
    clearInterval(cutting);
    expect(new Set(outcomes)).toEqual(new Set(['done']));
    await expect.poll(() => outcome(lines)).toBe('done');
    expect((await lines()).map(({ type }) => type).toSorted()).toEqual(types.toSorted());
  });

  test('undoes a transaction whose connection ends between two statements, and none of it goes to another one', async () => {
    const pool = await ConnectionPool.open(proxy.address, { most: 2 });
    const database = new PostgresDatabase(pool);
    await makeInstance(registry, 'a');
    const work = () =>
      database.write(async () => {
        await database.ask(`update instances set words = 'changed'`);
        proxy.cut();
        await pause(100);
        await database.ask(`update instances set words = 'too late'`);
      });
    expect(await outcome(work)).toBe('registry_unavailable');
    expect(await database.ask(`select words from instances where words in ('changed', 'too late')`)).toEqual([]);
    await database.close();
  });

  test('gives up what is under way when the server says nothing any more, though no connection ends', async () => {
    await makeInstance(registry, 'a');
    proxy.hold();
    expect(await outcome(() => registry.instances.get('a'))).toBe('registry_unavailable');
    expect(await outcome(() => registry.ledger.append([entry()]))).toBe('registry_unavailable');
    proxy.cut();
    proxy.open();
    await expect.poll(() => outcome(() => registry.ledger.append([entry()]))).toBe('done');
    expect((await lines()).length).toBeGreaterThanOrEqual(2);
  });
});
