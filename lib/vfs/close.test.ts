import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { holdFile, kill } from './testing/processes.ts';
import { bytes, codeOf, liveVfs, MIB, text, tmpFile, tmpFolder, vfsPath } from './testing/tmp-files.ts';

const beside = (file: string) => readdirSync(dirname(file)).sort();

test('28. closing leaves one complete file, not in WAL mode, with nothing beside it', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  for (let index = 0; index < 100; index += 1) vfs.put(vfsPath(`/${index}`), new Uint8Array(20_000).fill(index));
  expect(beside(file)).toEqual(['vfs.sqlite', 'vfs.sqlite-shm', 'vfs.sqlite-wal']);
  closeToRest(vfs);
  expect(beside(file)).toEqual(['vfs.sqlite']);
  // The write version in the header: 1 is a rollback journal.
  expect(readFileSync(file)[18]).toBe(1);
  const copy = join(tmpFolder(), 'copy.sqlite');
  copyFileSync(file, copy);
  const rest = openAtRest(copy);
  for (let index = 0; index < 100; index += 1) expect(rest.get(vfsPath(`/${index}`))?.[19_999]).toBe(index);
  rest.close();
});

test('28. closing is refused while an overlay has uncommitted changes, and the overlay stays usable', () => {
  const vfs = liveVfs({ file: tmpFile() });
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/a'), bytes('a'));
  expect(codeOf(() => closeToRest(vfs))).toBe('internal');
  overlay.commit();
  closeToRest(vfs);
});

test.each(['reading', 'beside'] as const)(
  '29. closing fails while another process is %s, loses nothing, and succeeds afterwards',
  async (how) => {
    const file = tmpFile();
    const vfs = liveVfs({ file });
    vfs.put(vfsPath('/before'), bytes('before'));
    const reader = await holdFile(file, how);
    vfs.put(vfsPath('/after'), bytes('after'));
    expect(codeOf(() => closeToRest(vfs))).toBe('conflict');
    vfs.put(vfsPath('/later'), bytes('later'));
    await kill(reader);
    closeToRest(vfs);
    expect(beside(file)).toEqual(['vfs.sqlite']);
    const filed = `${file}.filed`;
    renameSync(file, filed);
    const rest = openAtRest(filed);
    expect(['/before', '/after', '/later'].map((path) => text(rest.get(vfsPath(path))))).toEqual([
      'before',
      'after',
      'later',
    ]);
    rest.close();
  },
);

test('29. closing despite the reader and moving the file alone would lose rows', async () => {
  const file = tmpFile();
  const first = openLive(file, { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: false });
  first.put(vfsPath('/before'), bytes('before'));
  closeToRest(first);
  const vfs = liveVfs({ file, mustExist: true });
  await holdFile(file, 'reading');
  vfs.put(vfsPath('/after'), bytes('after'));
  expect(codeOf(() => closeToRest(vfs))).toBe('conflict');
  vfs.close();
  expect(existsSync(`${file}-wal`)).toBe(true);
  const alone = join(tmpFolder(), 'alone.sqlite');
  copyFileSync(file, alone);
  const rest = openAtRest(alone);
  expect(text(rest.get(vfsPath('/before')))).toBe('before');
  expect(rest.get(vfsPath('/after'))).toBeNull();
  rest.close();
});
