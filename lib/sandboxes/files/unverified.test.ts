/** What leaves of a file whose bytes were changed before anybody knew its hash: nothing. */

import { closeSync, openSync, readSync, statSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { changeFileRecords } from '../../registry/testing/sql-of-tests.ts';
import { stampOf } from '../../storage/files.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, observeOpens, REQUEST } from '../testing/test-engine.ts';
import { HASHED_AT_FILING_BYTES } from './filed-hash.ts';

const at = stage();
const WORK = 'the work, as it was filed';
/** No background check begins by itself while a test runs. */
const NEVER_MS = 3_600_000;
const VOLUMES = ['workspace', 'memory'] as const;

/** A sandbox that has slept in `state` for no time at all. `bytes`: of a second file in it. */
async function filed(id: string, state: 'suspended' | 'frozen', bytes = 0): Promise<string> {
  const { dock } = at;
  await dock.create(id);
  await dock.put(id, '/work', WORK);
  if (bytes > 0) {
    const content = Buffer.alloc(bytes, 'large ');
    await dock.sandboxes.write(
      instanceId(id),
      { op: 'put', volume: 'workspace', path: parseVfsPath('/large'), content },
      REQUEST,
    );
  }
  await dock.sandboxes.suspend(id, REQUEST);
  if (state === 'frozen') await dock.sandboxes.freeze(id, REQUEST);
  return state === 'frozen' ? at.cold(id) : liveFile(dock, id);
}

/** Changes one letter of the work in a file, which stays a sound database. */
function flip(file: string): void {
  const open = openSync(file, 'r+');
  try {
    const bytes = Buffer.alloc(statSync(file).size);
    readSync(open, bytes, 0, bytes.length, 0);
    const found = bytes.indexOf(WORK);
    expect(found).toBeGreaterThan(0);
    writeSync(open, 'THE', found);
  } finally {
    closeSync(open);
  }
}

/** Makes the registry record the present stat of a file, as if the disk had changed its bytes and told nobody. */
async function recordStat(id: string, file: string): Promise<void> {
  const { inode = '', mtimeNs = '', ctimeNs = '' } = stampOf(file) ?? {};
  await changeFileRecords(at.folder, { inode, mtimeNs, ctimeNs }, `id = '${id}'`);
}

const recordOf = async (id: string) => (await at.dock.registry.instances.get(id))?.file;
const copyOut = (id: string, name: string) =>
  at.dock.sandboxes.copyOut(id, join(at.folder, name), { volumes: VOLUMES, durable: false });

test.each(['suspended', 'frozen'] as const)(
  'a file up to 8 MiB has its hash when it is %s, so that a flip in the next moment is found by every use',
  async (state) => {
    const file = await filed('a', state);
    expect(await recordOf('a')).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), quickCheck: null });
    flip(file);
    await expect(at.dock.get('a', '/work')).rejects.toMatchObject({ code: 'corrupt' });
    await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'corrupt' });
    // Where the stat tells nothing, the bytes of what leaves are compared.
    await recordStat('a', file);
    await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'corrupt' });
  },
);

test('the file of a process that was killed has its hash with its row', async () => {
  const openings: InstanceProcess[] = [];
  observeOpens(at.dock.pool, (process) => openings.push(process));
  await at.dock.create('a');
  await at.dock.put('a', '/work', WORK);
  for (const process of openings) await process.kill('killed');
  await vi.waitFor(async () => expect(await at.stateOf('a')).toBe('suspended'), 240_000);
  flip(liveFile(at.dock, 'a'));
  await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'corrupt' });
});

test('a larger file is unverified until its hash is there, which what is asked for hurries; then it leaves', async () => {
  await at.restart({ checkDelayMs: NEVER_MS });
  for (const id of ['a', 'b']) {
    await filed(id, 'frozen', HASHED_AT_FILING_BYTES);
    expect(await recordOf(id)).toMatchObject({ sha256: null });
  }
  await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'unverified', retryAfterSeconds: 1 });
  // The hash of the first one is on its way by now.
  await expect(at.dock.sandboxes.copyRaw('b', at.folder)).rejects.toMatchObject({ code: 'unverified' });
  // What is read of it is shown meanwhile.
  expect(await at.dock.get('a', '/work')).toBe(WORK);
  await vi.waitFor(async () => expect((await recordOf('a'))?.sha256).toMatch(/^[0-9a-f]{64}$/), {
    timeout: 240_000,
    interval: 50,
  });
  expect(await copyOut('a', 'copy')).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await at.dock.sandboxes.copyRaw('a', at.folder)).toMatchObject({ packed: false });
});

test.each(['suspended', 'frozen'] as const)(
  'a larger %s file that is written to before its hash is known never gets one, and never leaves',
  async (state) => {
    await at.restart({ checkDelayMs: NEVER_MS });
    const file = await filed('a', state, HASHED_AT_FILING_BYTES);
    flip(file);
    utimesSync(file, 2e9, 2e9);
    for (const name of ['copy', 'again']) {
      await expect(copyOut('a', name)).rejects.toMatchObject({
        code: 'unverified',
        hint: expect.stringContaining('was written to'),
      });
    }
    // A stop hashes what waits, and so does the scrubber of the next start.
    await at.restart({ checkDelayMs: NEVER_MS, scrub: { startMs: 0, pageMs: 1, passMs: 1, share: 1 } });
    at.dock.sandboxes.start();
    await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'unverified' });
    expect(await recordOf('a')).toMatchObject({ sha256: null });
    // Whoever looks at it and files it anew vouches for it.
    await at.dock.sandboxes.resume('a', REQUEST);
    await at.dock.sandboxes.suspend('a', REQUEST);
    await expect(copyOut('a', 'copy')).rejects.toMatchObject({ code: 'unverified', retryAfterSeconds: 1 });
    await vi.waitFor(async () => expect(await copyOut('a', 'copy')).toMatchObject({ bytes: expect.any(Number) }), {
      timeout: 240_000,
      interval: 100,
    });
  },
);
