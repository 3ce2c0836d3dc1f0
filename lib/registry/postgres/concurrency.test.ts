/** What only a registry with many connections can get wrong. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../chain.ts';
import type { Registry } from '../registry.ts';
import { entry, instance, intent, makeInstance, START, transitionTo } from '../testing/fixtures.ts';
import { postgresUnderTest } from '../testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';

const SERVERS = 4;

describe.skipIf(!HAS_POSTGRES)('several servers with one registry on Postgres', () => {
  const driver = postgresUnderTest();
  let servers: PlainIds<Registry>[];
  beforeEach(async () => {
    servers = [await driver.open()];
    while (servers.length < SERVERS) servers.push(await driver.again());
  });
  afterEach(() => driver.discard());

  /** The first of them. */
  const one = () => servers[0] as PlainIds<Registry>;

  test('lines that all append at once have numbers without gaps and one chain, and each is heard once, in order', async () => {
    const heard = servers.map(() => [] as number[]);
    for (const [at, server] of servers.entries()) {
      server.commitEvents.onLedgerAppend(({ lines }) => heard[at]?.push(...lines.map(({ seq }) => seq)));
    }
    await Promise.all(
      servers.flatMap((server, at) =>
        Array.from({ length: 10 }, (_, n) =>
          server.ledger.append([entry({ type: `a${at}.${n}` }), entry({ type: 'b' })]),
        ),
      ),
    );
    const lines = await one().ledger.chain(0, 1000);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: SERVERS * 20 }, (_, n) => n + 1));
    let hash = CHAIN_START.hash;
    for (const line of lines) {
      hash = chainHash(hash, canonicalLine(line));
      expect(line.hash).toBe(hash);
    }
    for (const server of servers) await server.ledger.appendRepeatCounts(START * 1000);
    for (const numbers of heard) expect(numbers).toEqual(lines.map(({ seq }) => seq));
  });

  test('of many who begin at the same row one wins, and of many who commit one does', async () => {
    const row = await makeInstance(one(), 'a', 'suspended');
    const begun = await Promise.all(servers.map((server) => server.instances.begin('a', intent(row))));
    expect(begun.filter(Boolean)).toHaveLength(1);
    const committed = await Promise.allSettled(
      servers.map((server) => server.instances.commit(transitionTo(row, 'active'))),
    );
    expect(committed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of committed)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'conflict' });
    expect(await one().instances.get('a')).toMatchObject({ state: 'active', generation: row.generation + 1 });
  });

  test('a quota holds however many create at once, and counts are those of the rows', async () => {
    await one().quotas.set('acme', { maxSandboxes: 5 }, entry());
    const made = await Promise.allSettled(
      servers.flatMap((server, at) =>
        Array.from({ length: 4 }, (_, n) => server.instances.create(instance(`s-${at}-${n}`), START, entry())),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect((await one().instances.countsByState(['acme'])).created).toBe(5);
    expect(await one().maintenance.recount(entry())).toEqual([]);
  });

  test('of many who begin to wake at once no more begin than the tenant may have awake, and the others are told', async () => {
    const rows = await Promise.all(Array.from({ length: 12 }, (_, n) => makeInstance(one(), `w-${n}`, 'suspended')));
    await one().quotas.set('acme', { maxActive: 3 }, entry());
    const begun = await Promise.allSettled(
      rows.map((row, n) => servers[n % SERVERS]?.instances.begin(row.id, intent(row))),
    );
    expect(begun.filter((each) => each.status === 'fulfilled' && each.value)).toHaveLength(3);
    for (const each of begun) {
      if (each.status !== 'rejected') continue;
      expect(each.reason).toMatchObject({ code: 'quota_exceeded', extra: { limit: 3, used: 3 } });
    }
  });

  test('what a listener does about a line, then or later, is a write of its own', async () => {
    const { promise: answered, resolve } = Promise.withResolvers<unknown>();
    const answer = () => one().quotas.set('globex', { maxActive: 1 }, entry({ type: 'answer' }));
    one().commitEvents.onLedgerAppend(({ lines }) => {
      if (lines.some(({ type }) => type === 'heard')) setImmediate(() => resolve(answer()));
    });
    await one()
      .carrying('a-write')
      .quotas.set('acme', { maxActive: 3 }, entry({ type: 'heard' }));
    expect(await answered).toMatchObject({ maxActive: 1 });
  });

  test('sandboxes that move in opposite directions at once never wait for each other for ever', async () => {
    const rows = await Promise.all(
      Array.from({ length: 12 }, (_, n) => makeInstance(one(), `m-${n}`, n % 2 === 0 ? 'active' : 'suspended')),
    );
    await Promise.all(
      rows.map((row, n) =>
        servers[n % SERVERS]?.instances.commit(transitionTo(row, row.state === 'active' ? 'suspended' : 'active')),
      ),
    );
    const counts = await one().instances.countsByState();
    expect([counts.active, counts.suspended]).toEqual([6, 6]);
    expect(await one().maintenance.recount(entry())).toEqual([]);
  });

  test('a name is given once, and what was refused leaves neither a row nor a line', async () => {
    const made = await Promise.allSettled(
      servers.map((server, at) => server.instances.create(instance(`n-${at}`, { name: 'same' }), START, entry())),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of made) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'conflict' });
    expect(await one().ledger.lastSeq()).toBe(1);
    expect(await one().instances.count({}, 100)).toBe(1);
  });
});
