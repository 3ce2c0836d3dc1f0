/** Foreign files in or beside the place of a file at rest: they are never read, copied, opened or replayed. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { intent } from '../../registry/testing/fixtures.ts';
import { changeFileRecords } from '../../registry/testing/sql-of-tests.ts';
import { fileOnDisk } from '../../storage/disk.ts';
import { createReaders } from '../../vfs/readers.ts';
import { verifyForReading } from '../files/file-verification.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST } from '../testing/test-engine.ts';

const at = stage();

async function put(id: string, state: 'active' | 'suspended' | 'frozen'): Promise<string> {
  await at.dock.create(id, { tenant: id });
  await at.dock.put(id, '/x', `work of ${id}`);
  if (state === 'active') return liveFile(at.dock, id);
  await at.dock.sandboxes.suspend(id, REQUEST);
  if (state === 'suspended') return liveFile(at.dock, id);
  await at.dock.sandboxes.freeze(id, REQUEST);
  return at.cold(id);
}

const copyOut = (id: string) => {
  const path = join(at.folder, 'expanded', `${id}-copy.sqlite`);
  return at.dock.sandboxes.copyOut(id, path, { volumes: ['workspace'] }).then(() => path);
};
const orphans = () => readdirSync(join(at.folder, 'orphans'));
const setAside = async (id: string) =>
  (await at.dock.registry.ledger.page({ instance: id, type: 'orphan.set_aside' }, 10)).rows.map(({ reason }) => reason);

/** Makes the row match the changed file: a disk damages bytes without changing the inode. */
async function believe(id: string, file: string): Promise<void> {
  const { mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  await changeFileRecords(at.folder, { mtimeNs: String(mtimeNs), ctimeNs: String(ctimeNs) }, `id = '${id}'`);
}

describe.each(['suspended', 'frozen'] as const)('another file in the place of a %s one', (state) => {
  test('is neither read, nor copied, nor woken, before and after that is a fault, and the original is again', async () => {
    const mine = await put('mine', state);
    const theirs = await put('theirs', state);
    renameSync(mine, `${mine}.kept`);
    copyFileSync(theirs, mine);
    const refused = async () => {
      await expect(at.dock.get('mine', '/x')).rejects.toMatchObject({ code: 'corrupt' });
      await expect(copyOut('mine')).rejects.toMatchObject({ code: 'corrupt' });
      await expect(at.dock.sandboxes.resume('mine', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    };
    await refused();
    expect((await at.dock.registry.instances.get('mine'))?.fault).toBe('corrupt');
    await refused();
    expect(await at.dock.get('theirs', '/x')).toBe('work of theirs');
    renameSync(`${mine}.kept`, mine);
    expect(await at.dock.get('mine', '/x')).toBe('work of mine');
  });
});

test('a flipped byte never becomes a copy with a valid hash', async () => {
  const file = await put('a', 'frozen');
  // A stop hashes the files that wait for their check.
  await at.restart();
  expect((await at.dock.registry.instances.get('a'))?.file?.sha256).toMatch(/^[0-9a-f]{64}$/);
  const bytes = readFileSync(file);
  bytes.write('WORK', bytes.indexOf('work of a'));
  writeFileSync(file, bytes);
  await believe('a', file);
  await expect(copyOut('a')).rejects.toMatchObject({ code: 'corrupt' });
  expect(readdirSync(join(at.folder, 'expanded'))).toEqual(['empty.sqlite']);
});

test('a file whose stat differs from the record is hashed once for all reads, and again when it changes', async () => {
  const file = await put('a', 'suspended');
  const row = (await at.dock.registry.instances.get('a')) ?? expect.fail('no row');
  const resting = fileOnDisk(at.folder, row.vfsPath ?? '');
  const readers = createReaders({ maxFileBytes: 1024 });
  let checks = 0;
  const counting = {
    ...at.dock,
    readers: Object.assign(Object.create(readers) as typeof readers, {
      check: (...args: Parameters<typeof readers.check>) => {
        checks += 1;
        return readers.check(...args);
      },
    }),
  };
  try {
    await verifyForReading(counting, row, resting);
    expect(checks).toBe(0);
    const copy = readFileSync(file);
    renameSync(file, `${file}.other`);
    writeFileSync(file, copy);
    await Promise.all(Array.from({ length: 5 }, () => verifyForReading(counting, row, resting)));
    for (let round = 0; round < 5; round += 1) await verifyForReading(counting, row, resting);
    expect(checks).toBe(1);
    writeFileSync(file, readFileSync(await put('b', 'suspended')));
    for (let round = 0; round < 3; round += 1) {
      await expect(verifyForReading(counting, row, resting)).rejects.toMatchObject({ code: 'corrupt' });
    }
    expect(checks).toBe(2);
    // Of an operation that was interrupted nobody knows yet whose bytes these are.
    const interrupted = { ...row, pending: intent(row) };
    await expect(verifyForReading(counting, interrupted, resting)).rejects.toMatchObject({
      code: 'storage_unavailable',
      retryAfterSeconds: 5,
    });
    renameSync(`${file}.other`, file);
    await verifyForReading(counting, row, resting);
    // Its name was changed twice, which shows in its inode.
    expect(checks).toBe(3);
  } finally {
    await readers.stop();
  }
});

describe.each(['-wal', '-journal'])('a stranger’s %s', (suffix) => {
  let log: Buffer;
  beforeEach(async () => {
    const theirs = await put('theirs', 'active');
    // A complete foreign log: it holds whole pages, and SQLite would replay them.
    log = readFileSync(`${theirs}-wal`);
    expect(log.length).toBeGreaterThan(0);
  });

  test.each(['suspended', 'frozen'] as const)(
    'beside a %s file is set aside by a read, and none of it is visible',
    async (state) => {
      const file = await put('mine', state);
      writeFileSync(file + suffix, log);
      expect(await Promise.all([at.dock.get('mine', '/x'), at.dock.get('mine', '/x')])).toEqual([
        'work of mine',
        'work of mine',
      ]);
      expect(
        readdirSync(dirname(file)).filter((name) => name.startsWith('mine') || name.startsWith('vfs')),
      ).toHaveLength(1);
      const [kept = ''] = orphans();
      expect(readFileSync(join(at.folder, 'orphans', kept)).equals(log)).toBe(true);
      expect((await setAside('mine'))[0]).toContain(`${suffix} lay beside a file at rest`);
    },
  );

  test.each([
    ['a wake', 'suspended', () => at.dock.sandboxes.resume('mine', REQUEST)],
    ['a thaw', 'frozen', () => at.dock.sandboxes.resume('mine', REQUEST)],
    ['a freeze', 'suspended', () => at.dock.sandboxes.freeze('mine', REQUEST)],
    ['a forced freeze', 'suspended', () => at.dock.sandboxes.freeze('mine', REQUEST, { force: true })],
    ['archiving', 'frozen', () => at.dock.sandboxes.archive('mine', REQUEST)],
    ['a copy', 'suspended', () => copyOut('mine')],
    ['a prefetch', 'frozen', () => at.dock.sandboxes.prefetch('mine', REQUEST)],
    ['a plan', 'frozen', () => at.dock.sandboxes.runPlan('mine', 'suspended', REQUEST)],
  ] as const)('is not taken up by %s', async (_, state, verb) => {
    const file = await put('mine', state);
    writeFileSync(file + suffix, log);
    await verb();
    expect(await at.dock.get('mine', '/x')).toBe('work of mine');
    expect(await setAside('mine')).toHaveLength(1);
    expect(orphans()).toHaveLength(1);
  });

  test('where a file is to be fetched to is set aside first', async () => {
    await put('mine', 'frozen');
    const live = liveFile(at.dock, 'mine');
    mkdirSync(dirname(live), { recursive: true });
    writeFileSync(live + suffix, log);
    expect(await at.dock.run('mine', 'cat x')).toBe('work of mine');
    expect(await setAside('mine')).toHaveLength(1);
  });

  test('in the drawer where a file is to be stored is set aside first', async () => {
    await put('mine', 'suspended');
    writeFileSync(at.cold('mine') + suffix, log);
    await at.dock.sandboxes.freeze('mine', REQUEST);
    expect(await at.dock.run('mine', 'cat x')).toBe('work of mine');
    expect(await setAside('mine')).toHaveLength(1);
  });
});

describe.each(['frozen', 'archived', 'created'] as const)('a stranger in the live drawer of a %s sandbox', (state) => {
  const stranger = Buffer.from('somebody’s only copy');
  let live: string;
  beforeEach(async () => {
    if (state === 'created') await at.dock.create('mine', { tenant: 'mine' });
    else await put('mine', 'frozen');
    if (state === 'archived') await at.dock.sandboxes.archive('mine', REQUEST);
    live = liveFile(at.dock, 'mine');
    mkdirSync(dirname(live), { recursive: true });
    writeFileSync(live, stranger);
  });
  const keptOnce = () => {
    const kept = orphans();
    expect(kept).toHaveLength(1);
    expect(readFileSync(join(at.folder, 'orphans', kept[0] ?? '')).equals(stranger)).toBe(true);
  };

  test('is kept by a wake', async () => {
    await at.dock.sandboxes.resume('mine', REQUEST);
    keptOnce();
  });

  test.runIf(state !== 'created')('is kept by a wake and by a prefetch that are refused', async () => {
    const own = state === 'frozen' ? at.cold('mine') : join(at.folder, 'archive', 'mine.sqlite.zst');
    const bytes = readFileSync(own);
    writeFileSync(own, bytes.subarray(0, bytes.length / 2));
    await expect(at.dock.sandboxes.prefetch('mine', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(at.dock.sandboxes.resume('mine', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    keptOnce();
  });

  test('is kept by a deletion', async () => {
    await at.dock.sandboxes.runPlan('mine', 'deleted', REQUEST);
    keptOnce();
  });

  test('is kept by a start', async () => {
    await at.restart();
    await at.dock.sandboxes.resume('mine', REQUEST);
    keptOnce();
  });
});

test('an empty log beside a file at rest is removed without a ledger line', async () => {
  const file = await put('a', 'suspended');
  for (const suffix of ['-wal', '-journal', '-shm']) writeFileSync(file + suffix, '');
  expect(await at.dock.get('a', '/x')).toBe('work of a');
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  expect(orphans()).toEqual([]);
});
