import { readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { liveFile, REQUEST } from './testing/dock.ts';
import { stage } from './testing/stage.ts';

const at = stage();
const fileOf = async (id: string) => (await at.dock.registry.get(id))?.file;
const faultOf = async (id: string) => (await at.dock.registry.get(id))?.fault;

test('a file whose check a stop came before is hashed after the next start', async () => {
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  await at.dock.sessions.suspend('a', REQUEST);
  expect(await fileOf('a')).toMatchObject({ sha256: null, quickCheck: null });
  await at.restart({ scrub: { startMs: 0 } });
  at.dock.sessions.start();
  await expect
    .poll(() => fileOf('a'), { timeout: 20_000 })
    .toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), quickCheck: 'ok' });
  expect(await at.dock.get('a', '/x')).toBe('kept');
});

test('bytes that rot though their stat stays are found, and what is sound, awake or at fault is left alone', async () => {
  for (const id of ['rotten', 'sound', 'awake']) {
    await at.dock.create(id);
    await at.dock.put(id, '/x', `the work of ${id}`);
    if (id !== 'awake') await at.dock.sessions.suspend(id, REQUEST);
  }
  await at.restart({ scrub: { startMs: 0, pageMs: 10, walkMs: 300 } });
  await at.dock.run('awake', 'true');
  at.dock.sessions.start();
  await expect.poll(() => fileOf('rotten'), { timeout: 20_000 }).toMatchObject({ quickCheck: 'ok' });
  await expect.poll(() => fileOf('sound'), { timeout: 20_000 }).toMatchObject({ quickCheck: 'ok' });

  const file = liveFile(at.dock, 'rotten');
  const bytes = readFileSync(file);
  bytes.write('WORK', bytes.indexOf('work of rotten'));
  writeFileSync(file, bytes);
  // A disk forgets bytes without telling the inode; here the row is told of the inode instead.
  const { mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  const registry = new Database(at.dock.config.registryPath);
  registry
    .prepare("UPDATE instances SET file = json_set(file, '$.mtimeNs', ?, '$.ctimeNs', ?) WHERE id = 'rotten'")
    .run(String(mtimeNs), String(ctimeNs));
  registry.close();

  await expect.poll(() => faultOf('rotten'), { timeout: 20_000 }).toBe('corrupt');
  expect((await at.dock.registry.ledger({ instance: 'rotten', type: 'fault.raised' }, 10)).rows).toHaveLength(1);
  await expect(at.dock.run('rotten', 'true')).rejects.toMatchObject({ code: 'corrupt' });
  expect([await faultOf('sound'), await faultOf('awake')]).toEqual([null, null]);
});
