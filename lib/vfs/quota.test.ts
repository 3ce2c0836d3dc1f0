import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WinterdockError } from '../base/errors.ts';
import { closeToRest } from './open.ts';
import { bytes, codeOf, liveVfs, MIB, text, tmpFile, vfsPath } from './testing/tmp-files.ts';
import type { Tree } from './tree.ts';

/** Writes files of `size` bytes until one is refused; how many fitted, and the refusal. */
function fill(vfs: Tree, size: number, prefix = '/fill'): { count: number; refusal: WinterdockError } {
  for (let count = 0; count < 10_000; count += 1) {
    try {
      vfs.put(vfsPath(`${prefix}/${count}`), new Uint8Array(size).fill(1));
    } catch (error) {
      if (error instanceof WinterdockError) return { count, refusal: error };
      throw error;
    }
  }
  throw new Error('The sandbox never became full.');
}

test('21. a file over the limit is too_large, and the previous file stays', () => {
  const vfs = liveVfs({ maxFileBytes: 1000 });
  vfs.put(vfsPath('/a'), new Uint8Array(1000));
  expect(codeOf(() => vfs.put(vfsPath('/a'), new Uint8Array(1001)))).toBe('too_large');
  expect(codeOf(() => vfs.put(vfsPath('/new'), new Uint8Array(1001)))).toBe('too_large');
  expect(vfs.stat(vfsPath('/a'))?.size).toBe(1000);
  expect(vfs.entry(vfsPath('/new'))).toBeNull();
});

test.each([
  ['small files', 3000],
  ['files of many pages', 100_000],
])('22. a sandbox full of %s says so, with the numbers, and keeps everything', (_, size) => {
  const file = tmpFile();
  const vfs = liveVfs({ file, maxBytes: MIB });
  const { count, refusal } = fill(vfs, size);
  expect(refusal.code).toBe('quota_exceeded');
  expect(refusal.extra).toMatchObject({ quota: 'sandbox_bytes', limit: MIB });
  expect(refusal.extra.used).toBeGreaterThan(0.85 * MIB);
  expect(refusal.extra.used).toBeLessThanOrEqual(MIB);
  expect(vfs.list('workspace', { limit: 10_000 }).files).toHaveLength(count);
  expect(count * size).toBeGreaterThan(0.7 * MIB);
  closeToRest(vfs);
  expect(statSync(file).size).toBeLessThanOrEqual(MIB);
  const again = liveVfs({ file, maxBytes: MIB, mustExist: true });
  expect(again.sizes()[0]).toEqual({ volume: 'workspace', files: count, bytes: count * size });
  expect(again.db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});

test.each([
  ['small', 3000],
  ['large', 200_000],
])('22. a refused %s write of an overlay leaves what it wrote before, and that has room in the file', (_, size) => {
  const vfs = liveVfs({ file: tmpFile(), maxBytes: MIB });
  vfs.put(vfsPath('/before'), bytes('before'));
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/gathered'), bytes('gathered'));
  const { count, refusal } = fill(overlay, size);
  expect(refusal.code).toBe('quota_exceeded');
  expect(count * size).toBeGreaterThan(0.5 * MIB);
  overlay.put(vfsPath('/before'), bytes('change'));
  overlay.commit();
  expect(text(vfs.get(vfsPath('/gathered')))).toBe('gathered');
  expect(text(vfs.get(vfsPath('/before')))).toBe('change');
  expect(vfs.list('workspace', { prefix: '/fill/', limit: 10_000 }).files).toHaveLength(count);
});

test('22. every kind of write is refused in a full sandbox without harm, and deleting makes room', () => {
  const vfs = liveVfs({ file: tmpFile(), maxBytes: MIB });
  fill(vfs, 50_000);
  fill(vfs, 100, '/dust');
  let refused = 0;
  for (let index = 0; index < 500; index += 1) {
    const path = `/${'p'.repeat(240)}${index}`;
    for (const write of [
      () => vfs.mkdir(vfsPath(path)),
      () => vfs.link(vfsPath(`${path}l`), 'x'.repeat(1000)),
      () => vfs.chmod(vfsPath('/fill/0'), index),
    ]) {
      const code = codeOf(write);
      if (code !== undefined) {
        expect(code).toBe('quota_exceeded');
        refused += 1;
      }
    }
  }
  expect(refused).toBeGreaterThan(0);
  expect(
    codeOf(() =>
      vfs.move({ volume: 'workspace', path: vfsPath('/fill') }, { volume: 'memory', path: vfsPath('/elsewhere') }),
    ),
  ).toBe('quota_exceeded');
  expect(vfs.stat(vfsPath('/fill/0'))?.size).toBe(50_000);
  for (const { path } of vfs.list('workspace', { limit: 10_000 }).files) expect(vfs.delete(vfsPath(path))).toBe(true);
  vfs.delete(vfsPath('/'), 'workspace', { recursive: true });
  expect(fill(vfs, 50_000).count).toBeGreaterThan(15);
  expect(vfs.db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});

test('22. a large file can be replaced by another of its size when there is no room for both', () => {
  const vfs = liveVfs({ file: tmpFile(), maxBytes: MIB });
  vfs.put(vfsPath('/large'), new Uint8Array(700_000).fill(1));
  vfs.put(vfsPath('/large'), new Uint8Array(700_001).fill(2));
  expect(vfs.get(vfsPath('/large'))?.[700_000]).toBe(2);
  expect(codeOf(() => vfs.put(vfsPath('/large'), new Uint8Array(1_100_000)))).toBe('quota_exceeded');
  expect(Buffer.compare(vfs.get(vfsPath('/large')) ?? bytes(''), new Uint8Array(700_001).fill(2))).toBe(0);
});

test('22. an overlay over a full sandbox replaces and removes, and can use the room that this frees', () => {
  const vfs = liveVfs({ file: tmpFile(), maxBytes: MIB });
  const { count } = fill(vfs, 50_000);
  fill(vfs, 100, '/dust');
  const overlay = vfs.overlay();
  expect(codeOf(() => overlay.put(vfsPath('/more'), new Uint8Array(50_000)))).toBe('quota_exceeded');
  overlay.put(vfsPath('/fill/0'), new Uint8Array(50_000).fill(7));
  overlay.put(vfsPath('/fill/1'), new Uint8Array(10));
  expect(overlay.delete(vfsPath('/fill/2'))).toBe(true);
  expect(overlay.delete(vfsPath('/fill/3'))).toBe(true);
  overlay.put(vfsPath('/more'), new Uint8Array(50_000));
  overlay.commit();
  expect([
    vfs.get(vfsPath('/fill/0'))?.[0],
    vfs.stat(vfsPath('/fill/1'))?.size,
    vfs.stat(vfsPath('/more'))?.size,
  ]).toEqual([7, 10, 50_000]);
  const all = vfs.overlay();
  all.delete(vfsPath('/'), 'workspace', { recursive: true });
  all.commit();
  expect(fill(vfs, 50_000).count).toBeGreaterThanOrEqual(count);
  expect(vfs.db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});

test('22. changes that fit when they were written but not at the commit are refused as a whole, and others’ writes stay', () => {
  const vfs = liveVfs({ file: tmpFile(), maxBytes: MIB });
  vfs.put(vfsPath('/kept'), bytes('kept'));
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/kept'), bytes('lost'));
  overlay.put(vfsPath('/half'), new Uint8Array(530_000));
  vfs.put(vfsPath('/theirs'), new Uint8Array(530_000));
  expect(codeOf(() => overlay.commit())).toBe('quota_exceeded');
  expect([text(vfs.get(vfsPath('/kept'))), vfs.entry(vfsPath('/half')), vfs.stat(vfsPath('/theirs'))?.size]).toEqual([
    'kept',
    null,
    530_000,
  ]);
  expect(text(overlay.get(vfsPath('/kept')))).toBe('kept');
  overlay.put(vfsPath('/kept'), bytes('again'));
  overlay.commit();
  expect(text(vfs.get(vfsPath('/kept')))).toBe('again');
});
