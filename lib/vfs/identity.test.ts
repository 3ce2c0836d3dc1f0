import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyVfs } from './copy.ts';
import { closeToRest, giveIdentity, identityAtRest, openAtRest, openLive, recoverToRest } from './open.ts';
import { holdFile, kill } from './testing/processes.ts';
import { bytes, liveVfs, MIB, otherTool, tmpFile, tmpFolder, vfsPath, writeRows } from './testing/tmp-files.ts';
import { VOLUMES } from './volumes.ts';

const LIVE = { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true, walLater: true };
const IDENTITY = /^[0-9a-f]{32}$/;

function identityIn(file: string): string | null {
  const vfs = openAtRest(file);
  try {
    return identityAtRest(vfs);
  } finally {
    vfs.close();
  }
}

async function copied(path: string, mode: 'rest' | 'live' = 'rest'): Promise<string> {
  const copy = join(tmpFolder(), 'copy.sqlite');
  await copyVfs({ path, mode }, copy, VOLUMES);
  return copy;
}

test('56. a new file has an identity that is unique and that no write changes', () => {
  const born = new Set<string | null>();
  for (let round = 0; round < 20; round += 1) {
    const file = tmpFile();
    const identity = closeToRest(liveVfs({ file }));
    expect(identity).toMatch(IDENTITY);
    born.add(identity);
    const vfs = openLive(file, LIVE);
    vfs.put(vfsPath('/a'), bytes('a'));
    vfs.delete(vfsPath('/'), 'workspace', { recursive: true });
    expect(closeToRest(vfs)).toBe(identity);
    expect(identityIn(file)).toBe(identity);
  }
  expect(born.size).toBe(20);
});

test('56. a copy never has the identity of its source, at rest or beside its process, and gets its own', async () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  vfs.put(vfsPath('/a'), bytes('a'));
  const beside = await copied(file, 'live');
  const identity = closeToRest(vfs) ?? expect.fail('no identity');
  const copies = [beside, await copied(file), await copied(await copied(file))];
  const seen = new Set([identity]);
  for (const copy of copies) {
    expect(identityIn(copy)).toBeNull();
    expect(readFileSync(copy).includes(identity)).toBe(false);
    seen.add(closeToRest(openLive(copy, LIVE)) ?? '');
  }
  expect(seen.size).toBe(4);
  // The same rows give the same bytes, whatever the identities.
  expect(readFileSync(await copied(beside)).equals(readFileSync(await copied(file)))).toBe(true);
});

test('56. a file of an older version gets one with its first write and is not touched before', async () => {
  const file = tmpFile();
  closeToRest(liveVfs({ file }));
  const db = otherTool(file);
  db.exec("UPDATE vfs_node SET target = NULL WHERE kind = 'counter'");
  db.close();
  const before = readFileSync(file);
  const vfs = openLive(file, LIVE);
  onTestFinished(() => vfs.close());
  vfs.list('workspace', { limit: 1 });
  expect(readFileSync(file).equals(before)).toBe(true);
  vfs.put(vfsPath('/a'), bytes('a'));
  const identity = identityAtRest(vfs);
  expect(identity).toMatch(IDENTITY);
  expect(giveIdentity(vfs)).toBe(identity);
  expect(closeToRest(vfs)).toBe(identity);
  expect(identityIn(file)).toBe(identity);
});

test('56. a seed file gets one when it is first opened for writing, and has none to read before', () => {
  const file = tmpFile();
  writeRows(file, [['workspace', '/a', 'a', 1]]);
  expect(identityIn(file)).toBeNull();
  expect(closeToRest(openLive(file, LIVE))).toMatch(IDENTITY);
});

test('57. a file at rest whose bytes differ from the known hash is not copied', async () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  vfs.put(vfsPath('/a'), bytes('the work of a week'));
  closeToRest(vfs);
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const copy = join(tmpFolder(), 'copy.sqlite');
  const take = () => copyVfs({ path: file, mode: 'rest' }, copy, VOLUMES, { sha256 });
  await take();
  rmSync(copy);
  const rotten = readFileSync(file);
  rotten.write('WORK', rotten.indexOf('work of a week'));
  writeFileSync(file, rotten);
  await expect(take()).rejects.toMatchObject({ code: 'corrupt' });
  expect(existsSync(copy)).toBe(false);
});

test('56. recovery returns the identity of a killed process’s file, and none of a file that it cannot read', async () => {
  const file = tmpFile();
  await kill(await holdFile(file, 'live'));
  const identity = recoverToRest(file);
  expect(identity).toMatch(IDENTITY);
  expect(recoverToRest(file)).toBe(identity);
  const damaged = readFileSync(file);
  damaged.fill(0x55, 100, 4096);
  writeFileSync(file, damaged);
  expect(recoverToRest(file)).toBeNull();
});
