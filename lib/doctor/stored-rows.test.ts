import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { driverOfTests } from '../registry/testing/registry-of-tests.ts';
import { storeStage } from '../sandboxes/store/testing/store-stage.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import { sharedReaders } from '../testing/shared-readers.ts';
import { examine } from './examine.ts';

const at = storeStage();

test('the doctor finds nothing wrong with what is in the store, whether a copy of it is here or another file', async () => {
  const { config } = await at.start();
  for (const id of ['cached', 'evicted', 'replaced']) await at.rest(id);
  await at.rest('packed', 'archived');
  await at.dock.stop();
  rmSync(at.copyOf('evicted'));
  rmSync(at.copyOf('packed', 'archive'));
  writeFileSync(at.copyOf('replaced'), 'another file');
  const location = {
    dataFolder: at.folder,
    driver: driverOfTests(at.folder),
    keysFolder: at.folder,
    drawers: createDiskDrawers(at.folder),
  };
  const found = async (readers: Parameters<typeof examine>[0]['readers']) =>
    (await examine({ location, readers })).findings
      .filter(({ kind }) => kind.startsWith('row.') || kind.startsWith('file.'))
      .map(({ kind, weight, about }) => [kind, weight, about]);
  expect(await found(null)).toEqual([['row.copy_changed', 'note', 'replaced']]);
  const readers = sharedReaders(config);
  await readers.start();
  expect((await found(readers)).filter(([, weight]) => weight === 'wrong')).toEqual([]);
  await readers.stop();
});
