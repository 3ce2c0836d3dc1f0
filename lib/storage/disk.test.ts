import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createArchiveDrawer, createColdDrawer, createDiskDrawers } from './disk.ts';
import { copyWhole, moveFile, sha256Of, stampOf, statOf } from './files.ts';
import { drawerContract } from './testing/contract-suite.ts';

describe('the cold drawer', () => drawerContract(createColdDrawer));
describe('the archive drawer', () => drawerContract(createArchiveDrawer));
describe('the drawer of snapshots', () => drawerContract((folder) => createDiskDrawers(folder).snapshot));
describe('the drawer of blueprints', () => drawerContract((folder) => createDiskDrawers(folder).blueprint));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-disk-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('freezing and thawing on one filesystem keep the inode', async () => {
  const cold = createColdDrawer(folder);
  await cold.prepare();
  const source = join(folder, 'vfs.sqlite');
  writeFileSync(source, 'the work');
  const inode = stampOf(source)?.inode;
  await cold.put(source, 'a');
  expect(existsSync(source)).toBe(false);
  expect(stampOf(join(folder, 'cold', 'a.sqlite'))?.inode).toBe(inode);
  await cold.fetch('a', source);
  expect(stampOf(source)?.inode).toBe(inode);
});

test('what is in a drawer of copies cannot be written, and what comes out of it can', async () => {
  const drawers = createDiskDrawers(folder);
  for (const [drawer, mode] of [
    [drawers.snapshot, 0o400],
    [drawers.blueprint, 0o400],
  ] as const) {
    const source = join(folder, 'vfs.sqlite');
    writeFileSync(source, 'the work');
    await drawer.prepare();
    await drawer.put(source, 'a');
    const kept = join(folder, drawer.at('a').address);
    expect(statSync(kept).mode & 0o777).toBe(mode);
    const before = statOf(kept);
    await drawer.fetch('a', source);
    expect(statSync(source).mode & 0o777).toBe(0o600);
    writeFileSync(source, 'changed');
    expect(readFileSync(kept, 'utf8')).toBe('the work');
    expect(await drawer.at('a').stat()).toEqual(before);
  }
});

test('packing tells the hash of the bytes that were packed', async () => {
  const source = join(folder, 'vfs.sqlite');
  writeFileSync(source, 'the work of a week. '.repeat(50_000));
  expect(await createArchiveDrawer(folder).put(source, 'a')).toBe(await sha256Of(source));
});

test('archived text is smaller than it was', async () => {
  const archive = createArchiveDrawer(folder);
  const source = join(folder, 'vfs.sqlite');
  writeFileSync(source, 'the same sentence again and again. '.repeat(20_000));
  await archive.put(source, 'a');
  expect((await archive.at('a').stat())?.size).toBeLessThan(statSync(source).size / 10);
});

for (const [damage, harm] of [
  ['cut off', (content: Buffer) => content.subarray(0, content.length - 7)],
  [
    'changed in one bit',
    (content: Buffer) =>
      Buffer.concat([content.subarray(0, -3), Buffer.from([(content.at(-3) ?? 0) ^ 1]), content.subarray(-2)]),
  ],
  ['no zstd at all', () => Buffer.from('something else')],
] as const) {
  test(`an archived file that is ${damage} is refused and leaves nothing half expanded`, async () => {
    const archive = createArchiveDrawer(folder);
    const source = join(folder, 'vfs.sqlite');
    writeFileSync(source, 'the work of a week. '.repeat(5000));
    await archive.put(source, 'a');
    const packed = join(folder, archive.at('a').address);
    writeFileSync(packed, harm(readFileSync(packed)));
    const target = join(folder, 'target.sqlite');
    await expect(archive.fetch('a', target)).rejects.toMatchObject({ code: 'corrupt' });
    expect(existsSync(target)).toBe(false);
    expect(await archive.at('a').stat()).not.toBeNull();
  });
}

/** A folder on another filesystem than that of temporary files: in memory, or on the disk when those are in memory. */
const OTHER = ['/dev/shm', '/var/tmp'].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
);

describe.runIf(OTHER !== undefined)('across filesystems', () => {
  test('a move is a verified copy, and the source goes last', async () => {
    const other = mkdtempSync(join(OTHER ?? '', 'winterdock-'));
    try {
      const source = join(folder, 'vfs.sqlite');
      writeFileSync(source, 'the work');
      const target = join(other, 'vfs.sqlite');
      await (await moveFile(source, target, join(other, 'staging'))).makeDurable();
      expect(readFileSync(target, 'utf8')).toBe('the work');
      expect(existsSync(source)).toBe(false);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

test('a copy that cannot be put in place leaves its source and no unfinished file', async () => {
  const source = join(folder, 'vfs.sqlite');
  writeFileSync(source, 'the work');
  const staging = join(folder, 'staging');
  await expect(copyWhole(source, join(folder, 'no', 'such', 'folder'), staging)).rejects.toThrow();
  expect(readFileSync(source, 'utf8')).toBe('the work');
  expect(readdirSync(staging)).toEqual([]);
});
