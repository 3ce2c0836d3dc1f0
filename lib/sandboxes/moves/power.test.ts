/** What a power loss can leave of a sandbox that was never filed, and how it is reported. */
import { readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { copyFolderOfTests } from '../../registry/testing/registry-of-tests.ts';
import { namesIn } from '../../testing/files-in.ts';
import { holdFile, kill } from '../../vfs/testing/processes.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST, startTestEngine } from '../testing/test-engine.ts';

const at = stage();

/** Writes into a new sandbox. Returns a copy of the folder at that moment, with nothing filed. */
async function cutOff(id: string): Promise<string> {
  await at.dock.create(id);
  await at.dock.put(id, '/x', 'answered');
  const image = `${at.folder}-image`;
  await copyFolderOfTests(at.folder, image);
  onTestFinished(() => rmSync(image, { recursive: true }));
  return image;
}

test('a new sandbox has its tables and its folder on disk before it is active, and its log holds later writes only', async () => {
  await at.dock.create('a');
  await at.dock.sandboxes.resume('a', REQUEST);
  const born = readFileSync(liveFile(at.dock, 'a'));
  expect(born.length).toBeGreaterThanOrEqual(4096);
  expect(born.subarray(0, 15).toString()).toBe('SQLite format 3');
  expect(born.includes('vfs_node_tree')).toBe(true);
});

test('an empty file beside a log is kept, and the row names this fault and no other', async () => {
  const dataFolder = await cutOff('a');
  const file = join(dataFolder, 'live', 'a', 'vfs.sqlite');
  truncateSync(file, 0);
  const log = readFileSync(`${file}-wal`);
  expect(log.length).toBeGreaterThan(0);
  for (const attempt of ['a start', 'another start']) {
    const dock = await startTestEngine({ dataFolder });
    try {
      const row = await dock.registry.instances.get('a');
      expect(row, attempt).toMatchObject({ state: 'suspended', fault: 'corrupt', pending: null });
      expect(row?.faultReason).toContain(`it has 0 bytes, and a log of ${log.length} bytes lies beside it`);
      expect(row?.faultReason).not.toMatch(/reader|nothing was lost/);
      for (const force of [false, true]) {
        await expect(dock.sandboxes.resume('a', REQUEST, { force })).rejects.toMatchObject({ code: 'corrupt' });
      }
      await expect(dock.sandboxes.freeze('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(dock.get('a', '/x')).rejects.toMatchObject({ code: expect.stringMatching(/corrupt|conflict/) });
      expect(statSync(file).size).toBe(0);
      expect(readFileSync(`${file}-wal`).equals(log)).toBe(true);
      expect(namesIn(join(dataFolder, 'orphans'))).toEqual([]);
    } finally {
      await dock.stop();
    }
  }
});

test('a file that a dying process holds for a moment longer is recovered by the start', async () => {
  const dataFolder = await cutOff('a');
  const file = join(dataFolder, 'live', 'a', 'vfs.sqlite');
  const reader = await holdFile(file, 'reading');
  let attempts = 0;
  observeEffects({
    before({ kind, path }) {
      if (kind !== 'delegate' || path !== file) return;
      attempts += 1;
      if (attempts === 2) reader.kill('SIGKILL');
    },
  });
  onTestFinished(() => observeEffects(null));
  const dock = await startTestEngine({ dataFolder });
  try {
    const row = await dock.registry.instances.get('a');
    expect(row).toMatchObject({ state: 'suspended', fault: null, pending: null });
    expect(row?.file).not.toHaveProperty('unsettled');
    expect(namesIn(dirname(file))).toEqual(['vfs.sqlite']);
    expect(await dock.get('a', '/x')).toBe('answered');
  } finally {
    await dock.stop();
  }
});

test('a file that cannot be recovered now is filed with its log and no fault, and the next wake recovers it', async () => {
  const dataFolder = await cutOff('a');
  const file = join(dataFolder, 'live', 'a', 'vfs.sqlite');
  const reader = await holdFile(file, 'reading');
  const dock = await startTestEngine({ dataFolder });
  try {
    expect(await dock.registry.instances.get('a')).toMatchObject({
      state: 'suspended',
      fault: null,
      pending: null,
      file: { unsettled: true },
    });
    const [failed] = (await dock.registry.ledger.page({ instance: 'a', type: 'recovery.failed' }, 10)).rows;
    expect(failed?.error).toMatch(/another reader or writer holds it|held by another/);
    await expect(dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    await kill(reader);
    expect(await dock.run('a', 'cat x')).toBe('answered');
    await dock.sandboxes.suspend('a', REQUEST);
    expect((await dock.registry.instances.get('a'))?.file).not.toHaveProperty('unsettled');
  } finally {
    await dock.stop();
  }
});
