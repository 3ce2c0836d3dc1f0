import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { entry, instance } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { namesIn } from '../testing/files-in.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { tmpFolder } from '../vfs/testing/tmp-files.ts';
import { createFromFile } from './create-from-file.ts';

async function stage() {
  const dataFolder = tmpFolder();
  mkdirSync(join(dataFolder, 'live'));
  const registry = await openRegistryOfTests(null, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 },
  });
  const file = join(dataFolder, 'rebuilt.sqlite');
  writeFileSync(file, 'the work');
  return { dataFolder, registry, file, live: (id: string) => join(dataFolder, 'live', id, 'vfs.sqlite') };
}

const { vfsPath: _none, ...box } = instance('box');

test('29. a file and its row are created together, and the row knows the file', async () => {
  const { dataFolder, registry, file, live } = await stage();
  const made: string[] = [];
  const sandboxes = { fileMade: (id: string) => void made.push(id) };
  const parts = { dataFolder, registry, clock: new FakeClock(), sandboxes };
  const row = await createFromFile(parts, file, 'hash', box, entry());
  expect(made).toEqual([box.id]);
  expect(row).toMatchObject({
    state: 'created',
    vfsPath: 'live/box/vfs.sqlite',
    bytes: 8,
    file: { sha256: 'hash', quickCheck: 'ok' },
  });
  expect([readFileSync(live('box'), 'utf8'), existsSync(file)]).toEqual(['the work', false]);
});

test('29. an id that is taken or about to be keeps what it has', async () => {
  const { dataFolder, registry, file, live } = await stage();
  const parts = { dataFolder, registry, clock: new FakeClock() };
  await registry.instances.create(instance('box'), 1, entry());
  await expect(createFromFile(parts, file, 'hash', box, entry())).rejects.toMatchObject({ code: 'conflict' });
  expect([existsSync(file), existsSync(join(dataFolder, 'live', 'box'))]).toEqual([true, false]);
  mkdirSync(join(dataFolder, 'live', 'soon'));
  writeFileSync(live('soon'), 'of another');
  await expect(createFromFile(parts, file, 'hash', { ...box, id: instanceId('soon') }, entry())).rejects.toMatchObject({
    code: 'conflict',
  });
  expect([existsSync(file), readFileSync(live('soon'), 'utf8')]).toEqual([true, 'of another']);
});

test('29. a row that cannot be inserted leaves no file, and keeps the file of a sandbox that took the id meanwhile', async () => {
  const { dataFolder, file, live, registry } = await stage();
  const { copies } = registry;
  const failing = (meanwhile: () => void) => ({
    dataFolder,
    clock: new FakeClock(),
    registry: {
      copies,
      instances: {
        get: async () => null,
        create: async () => {
          meanwhile();
          throw new WinterdockError('conflict', 'taken');
        },
      },
    },
  });
  await expect(
    createFromFile(
      failing(() => {}),
      file,
      'hash',
      box,
      entry(),
    ),
  ).rejects.toMatchObject({ code: 'conflict' });
  expect([namesIn(join(dataFolder, 'live')), await copies.unclaimedFiles()]).toEqual([[], []]);
  writeFileSync(file, 'the work');
  // An inode that was just given up may be given out again: here it is the same for certain.
  const replaced = failing(() => writeFileSync(live('box'), 'of another'));
  await expect(createFromFile(replaced, file, 'hash', box, entry())).rejects.toMatchObject({ code: 'conflict' });
  expect(readFileSync(live('box'), 'utf8')).toBe('of another');
});

test('29. a file is marked until it has its row, so that a kill between the two leaves nothing', async () => {
  const { dataFolder, registry, file, live } = await stage();
  const marks: unknown[] = [];
  const watching = {
    copies: registry.copies,
    instances: {
      get: registry.instances.get,
      async create(...row: Parameters<typeof registry.instances.create>) {
        marks.push(existsSync(live('box')), await registry.copies.unclaimedFiles());
        return registry.instances.create(...row);
      },
    },
  };
  await createFromFile({ dataFolder, registry: watching, clock: new FakeClock() }, file, 'hash', box, entry());
  expect(marks).toEqual([true, ['live/box/vfs.sqlite']]);
  expect(await registry.copies.unclaimedFiles()).toEqual([]);
});
