import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changeFileRecords } from '../../registry/testing/sql-of-tests.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST } from '../testing/test-engine.ts';
import { readProgress } from './scrub-progress.ts';

const at = stage();
/** A pace without pauses. */
const AT_ONCE = { startMs: 0, pageMs: 10, passMs: 10, keepMs: 0, share: 1 };
const BEGUN = { begun: 7, files: 0, bytes: 0, rotten: 0 };
const progress = () => readProgress(at.dock.registry.facts);
const fileOf = async (id: string) => (await at.dock.registry.instances.get(id))?.file;
const faultOf = async (id: string) => (await at.dock.registry.instances.get(id))?.fault;

test('a file whose check was prevented by a stop is checked after the next start', async () => {
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  await at.dock.sandboxes.suspend('a', REQUEST);
  expect(await fileOf('a')).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), quickCheck: null });
  await at.restart({ scrub: { startMs: 0 } });
  at.dock.sandboxes.start();
  await expect
    .poll(() => fileOf('a'))
    .toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), quickCheck: 'ok' });
  expect(await at.dock.get('a', '/x')).toBe('kept');
});

test('damaged bytes under an unchanged stat are found, and sound, awake or faulted sandboxes are left alone', async () => {
  for (const id of ['rotten', 'sound', 'awake']) {
    await at.dock.create(id);
    await at.dock.put(id, '/x', `the work of ${id}`);
    if (id !== 'awake') await at.dock.sandboxes.suspend(id, REQUEST);
  }
  await at.restart({ scrub: { ...AT_ONCE, passMs: 300 } });
  await at.dock.run('awake', 'true');
  at.dock.sandboxes.start();
  await expect.poll(() => fileOf('rotten')).toMatchObject({ quickCheck: 'ok' });
  await expect.poll(() => fileOf('sound')).toMatchObject({ quickCheck: 'ok' });

  const file = liveFile(at.dock, 'rotten');
  const bytes = readFileSync(file);
  bytes.write('WORK', bytes.indexOf('work of rotten'));
  writeFileSync(file, bytes);
  // A disk damages bytes without changing the inode; here the row gets the new inode instead.
  const { mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  await changeFileRecords(at.folder, { mtimeNs: String(mtimeNs), ctimeNs: String(ctimeNs) }, "id = 'rotten'");

  await expect.poll(() => faultOf('rotten')).toBe('corrupt');
  expect((await at.dock.registry.ledger.page({ instance: 'rotten', type: 'fault.raised' }, 10)).rows).toHaveLength(1);
  await expect(at.dock.run('rotten', 'true')).rejects.toMatchObject({ code: 'corrupt' });
  expect([await faultOf('sound'), await faultOf('awake')]).toEqual([null, null]);
});

test('a pass that a restart interrupts continues where it was, with its counts', async () => {
  for (const id of ['a', 'b', 'c']) {
    await at.dock.create(id);
    await at.dock.put(id, '/x', `the work of ${id}`);
    await at.dock.sandboxes.suspend(id, REQUEST);
  }
  await at.restart({ scrub: { ...AT_ONCE, passMs: 3_600_000 } });
  at.dock.sandboxes.start();
  await expect.poll(() => fileOf('c')).toMatchObject({ quickCheck: 'ok' });
  // It checks the first file, and then it pauses for hours.
  await at.restart({ scrub: { ...AT_ONCE, share: 1e-6 } });
  await at.dock.registry.facts.write('scrub', { walk: { ...BEGUN, after: '' }, last: null, since: 7 }, 7);
  at.dock.sandboxes.start();
  await expect.poll(async () => (await progress())?.walk).toMatchObject({ after: 'a', files: 1 });

  await at.restart({ scrub: { ...AT_ONCE, passMs: 3_600_000 } });
  expect((await progress())?.walk).toMatchObject({ after: 'a', begun: 7, files: 1 });
  at.dock.sandboxes.start();
  await expect.poll(async () => (await progress())?.last).toMatchObject({ begun: 7, files: 3, rotten: 0 });
  expect(await progress()).toMatchObject({ walk: null });
});

test('a day lies between two passes, however often the server restarts', async () => {
  const { clock } = at.dock;
  const since = clock.now() / 1000;
  for (const days of [0, 0.5, 1]) {
    clock.advance(since + days * 86_400 - clock.now() / 1000);
    await at.restart({ clock, scrub: { ...AT_ONCE, passMs: 86_400_000 } });
    at.dock.sandboxes.start();
    await expect.poll(progress).toMatchObject({ walk: null, since: since + Math.floor(days) * 86_400 });
    expect((await progress())?.last === null).toBe(days < 1);
  }
});

test('an archived file with a flipped byte, or another in its place, is found and reported; a sound one is left alone', async () => {
  for (const id of ['flipped', 'replaced', 'sound']) {
    await at.dock.create(id);
    await at.dock.put(id, '/x', `the work of ${id}, which is as long as it takes`);
    await at.dock.sandboxes.archive(id, REQUEST);
  }
  const archived = (id: string) => join(at.folder, 'archive', `${id}.sqlite.zst`);
  const before = readFileSync(archived('sound'));
  await at.restart({ scrub: { ...AT_ONCE, passMs: 3_600_000 } });
  at.dock.sandboxes.start();
  for (const id of ['flipped', 'replaced', 'sound']) {
    await expect.poll(() => fileOf(id)).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  }

  const bytes = readFileSync(archived('flipped'));
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(archived('flipped'), bytes);
  copyFileSync(archived('sound'), archived('replaced'));
  // Before the scrubber finds it, a revive already sees that it is not the archived file.
  await expect(at.dock.sandboxes.revive('replaced', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  await at.restart({ scrub: AT_ONCE });
  at.dock.sandboxes.start();
  for (const id of ['flipped', 'replaced']) {
    await expect.poll(() => faultOf(id)).toBe('corrupt');
    expect((await at.dock.registry.ledger.page({ instance: id, type: 'fault.raised' }, 10)).rows).toHaveLength(1);
    await expect(at.dock.sandboxes.revive(id, REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  }
  await expect.poll(async () => (await progress())?.last?.files).toBeGreaterThan(0);
  expect(await faultOf('sound')).toBeNull();
  expect(readFileSync(archived('sound')).equals(before)).toBe(true);
  await at.dock.sandboxes.revive('sound', REQUEST);
  expect(await at.dock.run('sound', 'cat x')).toBe('the work of sound, which is as long as it takes');
});
