import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { folderStore } from '../sandboxes/store/testing/folder-store.ts';
import { startServer } from '../testing/server.ts';
import { olderFromTheStore, RowsStage, wholeFromTheStore } from './testing/rows-stage.ts';
import { run } from './testing/server-content.ts';

let stage: RowsStage;
beforeEach(() => {
  stage = new RowsStage((root) => ({ WB_COLD_URL: pathToFileURL(join(root, 'bucket')).href }));
});
afterEach(() => stage.end());

test('an empty machine and one command: what was stored is whole, of a server with sandboxes in every state', async () => {
  await wholeFromTheStore(stage);
});

test('of what the store lost or changed the object before is taken, and what has none is named', async () => {
  const objects = await folderStore(join(stage.root, 'bucket'));
  await olderFromTheStore(stage, objects);
  await objects.close();
});

test('a store of another installation, another store than the server’s, and a place without drawers are refused', async () => {
  await stage.start();
  await stage.make('mine', 'suspend', 'freeze');
  await stage.stop();
  const urlOf = (name: string) => pathToFileURL(join(stage.root, name)).href;
  const elsewhere = join(stage.root, 'elsewhere');
  const other = run('restore', elsewhere, ['--from', stage.url, '--dry-run'], { WB_COLD_URL: urlOf('b') });
  expect([other.status, other.stderr]).toEqual([1, expect.stringContaining('names another store')]);
  const settings = { WB_COLD_URL: urlOf('theirs'), WB_LOG: 'silent' };
  stage.server = await startServer({ folder: elsewhere, clock: systemClock, settings });
  await stage.make('theirs', 'suspend', 'freeze');
  await stage.stop();
  const foreign = run('restore', elsewhere, ['--from', stage.url]);
  expect([foreign.status, foreign.stderr]).toEqual([
    1,
    expect.stringMatching(/another installation[\s\S]*empty data folder/),
  ]);
  const none = run('restore', elsewhere, ['--from', urlOf('none')]);
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('no backup')]);
  for (const args of [['--all'], ['--at', '2026-01-01'], ['--instance', 'mine']]) {
    expect(run('restore', stage.data, ['--from', urlOf('theirs'), '--rows', ...args])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Usage'),
    });
  }
});
