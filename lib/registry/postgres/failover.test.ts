/** The server of a registry fails over to a standby that has, or lacks, what was committed last. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parsePostgresUrl } from '../../base/postgres-url.ts';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { registryDriver } from '../drivers.ts';
import type { Registry } from '../registry.ts';
import { expectOneChain } from '../testing/chain.ts';
import { entry, makeInstance, THRESHOLDS } from '../testing/fixtures.ts';
import { type PostgresPair, postgresPair } from '../testing/postgres-pair.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { withAnswers } from '../with-answers.ts';

const UNAVAILABLE = 'registry_unavailable';

const outcome = (work: () => Promise<unknown>): Promise<string> =>
  work().then(
    () => 'done',
    (error: { code?: string }) => String(error.code),
  );

describe.skipIf(!HAS_POSTGRES)('a registry whose server of Postgres has a standby', () => {
  let pair: PostgresPair;
  let folder: string;
  let registry: PlainIds<Registry>;
  let unlock: () => Promise<void>;
  const lost: Error[] = [];

  beforeEach(async () => {
    pair = await postgresPair('registry');
    folder = mkdtempSync(join(tmpdir(), 'winterdock-failover-'));
    const server = parsePostgresUrl(pair.url);
    const driver = registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 1 });
    lost.length = 0;
    unlock = await driver.lock(folder, (why) => lost.push(why));
    registry = withPlainIds(withAnswers(await driver.open({ thresholds: THRESHOLDS })));
    await makeInstance(registry, 'a');
  });
  afterEach(async () => {
    await registry.close();
    await unlock();
    await pair.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const append = () => outcome(() => registry.ledger.append([entry()]));

  test('goes on with one that has everything, which is promoted', async () => {
    expect(await append()).toBe('done');
    await pair.caughtUp();
    await pair.failOver();
    await expect.poll(append).toBe('done');
    expect(await registry.instances.get('a')).toMatchObject({ id: 'a' });
    expect(lost).toEqual([]);
    await expectOneChain(registry, 3);
  });

  test('is neither read nor written to where it lacks what was acknowledged, and goes on where that is', async () => {
    await pair.caughtUp();
    pair.stopReplication();
    await makeInstance(registry, 'b');
    await pair.failOver();
    for (const work of [
      () => registry.instances.get('a'),
      () => registry.instances.list({ sort: 'name', reverse: false, limit: 5 }),
      () => registry.ledger.head(),
    ]) {
      await expect(work()).rejects.toMatchObject({
        code: UNAVAILABLE,
        message: expect.stringContaining('its ledger ends at line 1, and line 2 was acknowledged'),
        extra: { registry: 'older' },
      });
    }
    expect(await append()).toBe(UNAVAILABLE);
    // What is to be signed, so that no server starts on it.
    expect(await registry.ledger.acknowledged()).toMatchObject({ seq: 2 });
    expect(await pair.ask('standby', 'select seq from winterdock.ledger_head')).toEqual([['1']]);
    await pair.failBack();
    await expect.poll(append).toBe('done');
    expect(await registry.instances.get('b')).toMatchObject({ id: 'b' });
    expect(lost).toEqual([]);
    await expectOneChain(registry, 3);
  });

  test('that goes on without a line, and has another one in its place, is not taken for the same', async () => {
    await pair.caughtUp();
    pair.stopReplication();
    await makeInstance(registry, 'b');
    await pair.failOver();
    // As another server does that starts there.
    const server = parsePostgresUrl(pair.url);
    const other = withPlainIds(
      await registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 1 }).open({
        thresholds: THRESHOLDS,
      }),
    );
    await other.ledger.append([entry({ type: 'another' }), entry({ type: 'more' })]);
    await other.close();
    await expect(registry.instances.get('b')).rejects.toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringContaining('line 2 of its ledger is another one than was acknowledged'),
    });
  });

  test('is read at a standby that has everything, which takes no writes and is promoted later', async () => {
    await pair.caughtUp();
    await pair.crash();
    pair.lead('standby');
    await expect.poll(() => outcome(() => registry.instances.get('a'))).toBe('done');
    expect(await append()).toBe(UNAVAILABLE);
    await pair.promote();
    await expect.poll(append).toBe('done');
    await expectOneChain(registry, 2);
  });

  test('never asks a standby what became of a write whose answer was lost', async () => {
    await pair.caughtUp();
    pair.stopReplication();
    pair.lead('standby');
    // The one connection for statements leads to the first server still, and then to the standby.
    pair.loseAnswerTo('commit');
    const making = outcome(() => makeInstance(registry, 'b'));
    await expect.poll(() => outcome(() => registry.writes.happened('any'))).toBe(UNAVAILABLE);
    pair.lead('primary');
    expect(await making).toBe('done');
    expect(await registry.instances.get('b')).toMatchObject({ id: 'b' });
    await expectOneChain(registry, 2);
  });
});
