/** Versions that do not know all steps of a registry, and bring it forward. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CONTRACTING, STEPS } from '../../../db/postgres/migrations.ts';
import { withPlainIds } from '../../testing/plain-ids.ts';
import type { RegistryDriver } from '../driver.ts';
import { registryDriver } from '../drivers.ts';
import { expectOneChain } from '../testing/chain.ts';
import { entry, makeInstance, THRESHOLDS } from '../testing/fixtures.ts';
import { addressOf, administer } from '../testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { connect } from './connect.ts';
import { type KnownSteps, migrate, stepsOf } from './migrate.ts';
import { RegistryLock } from './registry-lock.ts';

/** As a later version has them: it adds a column and a table, and then takes a column away. */
const EXPANDED: KnownSteps = {
  steps: [
    ...STEPS,
    () => [
      'alter table instances add column mood bigint',
      'create table moods (id bigint primary key, name text not null)',
      `insert into moods values (1, 'calm')`,
    ],
  ],
  contracting: CONTRACTING,
};
const CONTRACTED: KnownSteps = {
  steps: [...EXPANDED.steps, () => ['alter table instances drop column words cascade']],
  contracting: new Set([...CONTRACTING, EXPANDED.steps.length + 1]),
};

let made = 0;

describe.skipIf(!HAS_POSTGRES)('a registry on Postgres that another version has written', () => {
  let database: string;
  let folder: string;
  let driver: RegistryDriver;
  let sql: Sql;

  beforeEach(async () => {
    made += 1;
    database = `versions_${made}`;
    await administer(`create database ${database}`);
    folder = mkdtempSync(join(tmpdir(), 'winterdock-versions-'));
    const server = await addressOf(database);
    driver = registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 2 });
    sql = await connect(server);
  });
  afterEach(async () => {
    await sql.end();
    await administer(`drop database ${database} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async () => withPlainIds(await driver.open({ thresholds: THRESHOLDS }));

  test('is used as ever when that one only expanded it, while this one has it open and after', async () => {
    const before = await open();
    await makeInstance(before, 'a');
    await migrate(sql, undefined, EXPANDED);
    await makeInstance(before, 'b', 'suspended');
    await before.close();
    await driver.requireUsable();
    const after = await open();
    await makeInstance(after, 'c');
    expect((await after.instances.list({ sort: 'name', reverse: false, limit: 9 })).rows).toHaveLength(3);
    expect(await after.maintenance.recount(entry())).toEqual([]);
    await expectOneChain(after);
    await after.close();
    // A copy of it is whole as this version knows it.
    const reader = await driver.readLive();
    await reader.copyTo(join(folder, 'copy'));
    await reader.close();
    // The newer one finds its own as it was.
    expect(await stepsOf(sql)).toEqual({ count: EXPANDED.steps.length, contracted: 0 });
    expect(await sql.unsafe('select name from moods').values()).toEqual([['calm']]);
    await migrate(sql, undefined, EXPANDED);
  });

  test('is refused by name where that one contracted it, by everything that opens it', async () => {
    const before = await open();
    await makeInstance(before, 'a');
    await before.close();
    await migrate(sql, undefined, CONTRACTED);
    const refused = {
      code: 'conflict',
      message: `A newer version of Winterdock has written the registry: this version knows ${STEPS.length} of its ${CONTRACTED.steps.length} steps, and step ${CONTRACTED.steps.length} took away what it needs. Start the newer version.`,
      extra: { start_refused: 'newer' },
    };
    await expect(driver.requireUsable()).rejects.toMatchObject(refused);
    await expect(open()).rejects.toMatchObject(refused);
    await expect(driver.inspect()).rejects.toMatchObject(refused);
    await expect(driver.readLive()).rejects.toMatchObject(refused);
    await expect(driver.readLedger()).rejects.toMatchObject(refused);
    // Nothing of it was changed by the attempts.
    expect(await stepsOf(sql)).toMatchObject({ count: CONTRACTED.steps.length });
  });

  test('is contracted by nobody who shares it while others use it, and expanded meanwhile', async () => {
    await migrate(sql);
    const options = { address: await addressOf(database), name: 'shared', isShared: true, onLost: () => undefined };
    const [own, other] = [await RegistryLock.take(options), await RegistryLock.take(options)];
    const alone = (work: () => Promise<void>) => own.alone(work);
    await migrate(sql, undefined, EXPANDED, alone);
    await expect(migrate(sql, undefined, CONTRACTED, alone)).rejects.toMatchObject({
      code: 'conflict',
      extra: { start_refused: 'others_use_it' },
    });
    expect(await stepsOf(sql)).toEqual({ count: EXPANDED.steps.length, contracted: 0 });
    await other.release();
    await expect
      .poll(() =>
        migrate(sql, undefined, CONTRACTED, alone).then(
          () => 'done',
          () => 'refused',
        ),
      )
      .toBe('done');
    // It is shared again.
    await (await RegistryLock.take(options)).release();
    await own.release();
  });

  test('of a version before is brought forward once, however many begin to at the same moment', async () => {
    await migrate(sql);
    await sql.unsafe('alter table registry_steps drop column contracts');
    const others = await Promise.all([1, 2, 3].map(async () => connect(await addressOf(database))));
    await Promise.all(others.map((other) => migrate(other, undefined, CONTRACTED)));
    for (const other of others) await other.end();
    expect(await stepsOf(sql)).toEqual({ count: CONTRACTED.steps.length, contracted: CONTRACTED.steps.length });
  });
});
